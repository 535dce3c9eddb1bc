package dev.sessionkeeper.coalescing;

import java.util.List;
import java.util.Optional;

/**
 * Stores the newest value of each key. The stored version of a key never falls, whatever the order
 * in which writes arrive.
 *
 * <p>After a {@code KeeperException.Unavailable} or {@code OutcomeUnknown} the writer repeats the
 * same write; a write that was done already must succeed. Any other exception means that one of the
 * entries is invalid; the writer then finds that entry by splitting the batch in halves.
 */
public interface LastValueStore<K, V> {

  /** A value to be stored. */
  record Entry<K, V>(K key, long version, V value) {}

  /** The result of writing one entry. */
  enum Result {
    /** The entry is the stored value now. */
    WRITTEN,
    /** The store has this version or a newer one already. */
    SUPERSEDED,
    /** The store does not know the key and does not create it. */
    NOT_FOUND
  }

  /**
   * Writes all entries or none, each only if it is newer than the stored one.
   *
   * @param entries at most one per key
   * @return one result per entry, in the order of the entries
   */
  List<Result> write(List<Entry<K, V>> entries);

  /** Sets an entry aside for an operator, with the reason why it could not be written. */
  void setAside(Entry<K, V> entry, String cause);

  /** Returns the stored value of a key. */
  Optional<Entry<K, V>> read(K key);
}
