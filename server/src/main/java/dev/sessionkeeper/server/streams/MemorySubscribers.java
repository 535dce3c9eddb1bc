package dev.sessionkeeper.server.streams;

import dev.sessionkeeper.time.TimeSource;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;

/** Knows the subscribers of this process. */
final class MemorySubscribers implements Subscribers {
  private final Map<Key, Seen> known = new HashMap<>();
  private final Supplier<StreamsConfig> config;
  private final TimeSource time;

  MemorySubscribers(Supplier<StreamsConfig> config, TimeSource time) {
    this.config = config;
    this.time = time;
  }

  private record Key(String stream, String name) {}

  private record Seen(String credential, Instant at) {}

  @Override
  public synchronized void admit(String stream, String name, String credential) {
    var now = time.instant();
    known.values().removeIf(seen -> seen.at().isBefore(now.minus(config.get().retention())));
    var key = new Key(stream, name);
    if (!known.containsKey(key)) {
      config
          .get()
          .subscriberLimits()
          .require(
              known.keySet().stream().filter(other -> other.stream().equals(stream)).count(),
              known.values().stream().filter(seen -> seen.credential().equals(credential)).count());
    }
    known.put(key, new Seen(credential, now));
  }
}
