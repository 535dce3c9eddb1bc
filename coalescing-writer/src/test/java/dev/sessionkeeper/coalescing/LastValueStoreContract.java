package dev.sessionkeeper.coalescing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.coalescing.LastValueStore.Entry;
import dev.sessionkeeper.coalescing.LastValueStore.Result;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The contract of every store of last values. */
abstract class LastValueStoreContract {

  /** Returns an empty store that accepts any key. */
  abstract LastValueStore<String, String> anyKeys();

  /** Returns a store with the single key {@code known} at version 0. */
  abstract LastValueStore<String, String> onlyKnown();

  @Test
  void aNewerVersionReplacesAnOlderOne() {
    var store = anyKeys();
    assertThat(store.write(List.of(entry("a", 1)))).containsExactly(Result.WRITTEN);
    assertThat(store.write(List.of(entry("a", 2)))).containsExactly(Result.WRITTEN);
    assertThat(store.read("a")).contains(entry("a", 2));
  }

  @Test
  void anEqualOrOlderVersionChangesNothing() {
    var store = anyKeys();
    store.write(List.of(entry("a", 5)));
    assertThat(store.write(List.of(new Entry<>("a", 5, "other"))))
        .containsExactly(Result.SUPERSEDED);
    assertThat(store.write(List.of(entry("a", 4)))).containsExactly(Result.SUPERSEDED);
    assertThat(store.read("a")).contains(entry("a", 5));
  }

  @Test
  void resultsComeInTheOrderOfTheEntries() {
    var store = anyKeys();
    store.write(List.of(entry("m", 9)));
    assertThat(store.write(List.of(entry("z", 1), entry("m", 1), entry("a", 1))))
        .containsExactly(Result.WRITTEN, Result.SUPERSEDED, Result.WRITTEN);
  }

  @Test
  void unknownKeysAreToldApart() {
    var store = onlyKnown();
    assertThat(store.write(List.of(entry("zz", 1), entry("known", 1))))
        .containsExactly(Result.NOT_FOUND, Result.WRITTEN);
    assertThat(store.write(List.of(entry("known", 1)))).containsExactly(Result.SUPERSEDED);
    assertThat(store.read("zz")).isEmpty();
    assertThat(store.read("known")).contains(entry("known", 1));
  }

  @Test
  void anUnknownKeyReadsAsNothing() {
    assertThat(anyKeys().read("never")).isEmpty();
  }

  static Entry<String, String> entry(String key, long version) {
    return new Entry<>(key, version, key + "@" + version);
  }
}
