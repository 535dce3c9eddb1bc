package dev.sessionkeeper.server.streams;

import dev.sessionkeeper.time.TimeSource;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Keeps the subscribers in memory. */
final class MemorySubscribers implements Subscribers {
  private final Map<Key, Seen> known = new HashMap<>();
  private final Supplier<StreamsConfig> config;
  private final TimeSource time;

  MemorySubscribers(Supplier<StreamsConfig> config, TimeSource time) {
    this.config = config;
    this.time = time;
  }

  private record Key(String stream, String name) {}

  private record Seen(String credential, Instant at, boolean acknowledges) {}

  @Override
  public synchronized void admit(String stream, String name, String credential) {
    see(stream, name, credential, false);
  }

  @Override
  public synchronized void admitAcknowledging(String stream, String name, String credential) {
    see(stream, name, credential, true);
  }

  @Override
  public synchronized Set<String> acknowledging(String stream) {
    return known.entrySet().stream()
        .filter(entry -> entry.getKey().stream().equals(stream) && entry.getValue().acknowledges())
        .map(entry -> entry.getKey().name())
        .collect(Collectors.toSet());
  }

  private void see(String stream, String name, String credential, boolean acknowledges) {
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
    known.merge(
        key,
        new Seen(credential, now, acknowledges),
        (before, seen) -> new Seen(credential, now, before.acknowledges() || seen.acknowledges()));
  }
}
