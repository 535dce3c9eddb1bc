package dev.sessionkeeper.coalescing;

import dev.sessionkeeper.coalescing.LastValueStore.Entry;
import java.util.Comparator;
import java.util.List;

/** Lists the stored values of a store by key prefix. */
@FunctionalInterface
public interface ListedValues {

  /** Returns the stored values whose keys have this prefix, by key. */
  List<Entry<String, String>> startingWith(String prefix, int most);

  /** Returns a list over a store in memory. */
  static ListedValues of(MemoryLastValueStore<String, String> store) {
    return (prefix, most) ->
        store.entries().stream()
            .filter(entry -> entry.key().startsWith(prefix))
            .sorted(Comparator.comparing(Entry::key))
            .limit(most)
            .toList();
  }
}
