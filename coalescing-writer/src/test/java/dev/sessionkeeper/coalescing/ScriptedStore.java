package dev.sessionkeeper.coalescing;

import dev.sessionkeeper.KeeperException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A memory store that goes down, refuses invalid entries and records every write, as the test says.
 */
final class ScriptedStore implements LastValueStore<String, String> {
  final MemoryLastValueStore<String, String> inner;
  final List<List<Entry<String, String>>> attempts = new ArrayList<>();
  final Set<String> poison = new HashSet<>();
  boolean down;
  boolean graveyardDown;
  Runnable duringWrite = () -> {};

  ScriptedStore() {
    this(MemoryLastValueStore.create());
  }

  ScriptedStore(MemoryLastValueStore<String, String> inner) {
    this.inner = inner;
  }

  @Override
  public List<Result> write(List<Entry<String, String>> entries) {
    attempts.add(List.copyOf(entries));
    duringWrite.run();
    if (down) {
      throw new KeeperException.Unavailable("The scripted store");
    }
    for (var entry : entries) {
      if (poison.contains(entry.value())) {
        throw new KeeperException.Rejected("Poison: " + entry.value());
      }
    }
    return inner.write(entries);
  }

  @Override
  public void setAside(Entry<String, String> entry, String cause) {
    if (down || graveyardDown) {
      throw new KeeperException.Unavailable("The scripted store");
    }
    inner.setAside(entry, cause);
  }

  @Override
  public Optional<Entry<String, String>> read(String key) {
    return inner.read(key);
  }

  long stored(String key) {
    return inner.read(key).map(Entry::version).orElse(0L);
  }

  List<String> attemptedValues() {
    return attempts.stream().flatMap(List::stream).map(Entry::value).toList();
  }
}
