package dev.sessionkeeper.coalescing;

import java.util.List;
import java.util.Optional;

/**
 * Keeps the newest value of each key. The stored version of a key never falls, whatever the order
 * in which writes arrive.
 *
 * <p>A failure that passes is a {@code KeeperException.Unavailable} or {@code OutcomeUnknown}: the
 * same write comes again later, and finding it done already is a success. Any other exception means
 * that one of the entries is to blame; the writer then looks for it by halves.
 */
public interface LastValueStore<K, V> {

  /** A value on its way to the store. */
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
   * Writes all entries or none, each only where it is newer than what is stored.
   *
   * @param entries at most one per key
   * @return one result per entry, in the order of the entries
   */
  List<Result> write(List<Entry<K, V>> entries);

  /** Sets an entry aside for an operator, with the reason why it could not be written. */
  void setAside(Entry<K, V> entry, String cause);

  /** The stored value of a key. */
  Optional<Entry<K, V>> read(K key);
}
