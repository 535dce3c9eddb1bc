package dev.sessionkeeper.coalescing;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Keeps values in memory. */
public final class MemoryLastValueStore<K, V> implements LastValueStore<K, V> {
  private final Map<K, Entry<K, V>> values = new HashMap<>();
  private final List<DeadValue<K, V>> dead = new ArrayList<>();
  private final boolean createsKeys;

  private MemoryLastValueStore(boolean createsKeys) {
    this.createsKeys = createsKeys;
  }

  /** An entry that was set aside. */
  public record DeadValue<K, V>(Entry<K, V> entry, String cause) {}

  /** Creates a store that accepts any key. */
  public static <K, V> MemoryLastValueStore<K, V> create() {
    return new MemoryLastValueStore<>(true);
  }

  /** Creates a store that accepts only the keys that {@link #put} has set. */
  public static <K, V> MemoryLastValueStore<K, V> ofKnownKeys() {
    return new MemoryLastValueStore<>(false);
  }

  /** Sets a value, whatever is stored. */
  public synchronized void put(K key, long version, V value) {
    values.put(key, new Entry<>(key, version, value));
  }

  @Override
  public synchronized List<Result> write(List<Entry<K, V>> entries) {
    return entries.stream().map(this::write).toList();
  }

  private Result write(Entry<K, V> entry) {
    var stored = values.get(entry.key());
    if (stored == null && !createsKeys) {
      return Result.NOT_FOUND;
    }
    if (stored != null && stored.version() >= entry.version()) {
      return Result.SUPERSEDED;
    }
    values.put(entry.key(), entry);
    return Result.WRITTEN;
  }

  @Override
  public synchronized void setAside(Entry<K, V> entry, String cause) {
    dead.add(new DeadValue<>(entry, cause));
  }

  @Override
  public synchronized Optional<Entry<K, V>> read(K key) {
    return Optional.ofNullable(values.get(key));
  }

  /** Returns all values, in no order. */
  public synchronized List<Entry<K, V>> entries() {
    return List.copyOf(values.values());
  }

  /** Returns the values that were set aside, oldest first. */
  public synchronized List<DeadValue<K, V>> dead() {
    return List.copyOf(dead);
  }
}
