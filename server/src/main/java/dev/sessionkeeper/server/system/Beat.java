package dev.sessionkeeper.server.system;

import dev.sessionkeeper.server.activity.LastSeen;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Records every five seconds that this server runs; later, that it drains, and that it has ended.
 */
final class Beat implements AutoCloseable {
  private static final Duration EVERY = Duration.ofSeconds(5);
  private static final Duration SILENT = Duration.ofSeconds(30);
  private static final Duration FORGOTTEN = Duration.ofHours(1);
  private static final String KIND = "node";
  private static final String DRAINING = "node-draining";
  private static final String ENDED = "node-ended";
  private static final String SEPARATOR = "|";

  private final LastSeen lastSeen;
  private final TimeSource time;
  private final String name;
  private final String version;
  private final Instant startedAt;
  private volatile boolean closed;

  Beat(LastSeen lastSeen, TimeSource time, String name, String version) {
    this.lastSeen = lastSeen;
    this.time = time;
    this.name = name;
    this.version = version;
    this.startedAt = time.instant();
  }

  /**
   * A server of the store.
   *
   * @param silent it has not reported for a while, and did not say that it ends; after an hour its
   *     row is deleted
   * @param draining it refuses new requests and finishes running ones
   * @param self it is the server that answers
   */
  record Node(
      String name,
      String version,
      Instant startedAt,
      Instant lastSeenAt,
      boolean silent,
      boolean draining,
      boolean self) {}

  void start() {
    lastSeen.seen(KIND, fullName());
    time.schedule(
        EVERY,
        () -> {
          if (!closed) {
            start();
          }
        });
  }

  private String fullName() {
    return String.join(SEPARATOR, name, version, startedAt.toString());
  }

  /** Records that this server drains. */
  void drain() {
    lastSeen.seen(DRAINING, fullName());
  }

  private Set<String> names(String kind) {
    return lastSeen.list(kind).stream().map(LastSeen.Sight::name).collect(Collectors.toSet());
  }

  Instant startedAt() {
    return startedAt;
  }

  List<Node> nodes() {
    var now = time.instant();
    var draining = names(DRAINING);
    var ended = names(ENDED);
    return lastSeen.list(KIND).stream()
        .filter(sight -> sight.lastSeenAt().isAfter(now.minus(FORGOTTEN)))
        .filter(sight -> !ended.contains(sight.name()))
        .map(
            sight -> {
              var parts = sight.name().split("\\|", 3);
              boolean isSilent = sight.lastSeenAt().isBefore(now.minus(SILENT));
              return new Node(
                  parts[0],
                  parts[1],
                  Instant.parse(parts[2]),
                  sight.lastSeenAt(),
                  isSilent,
                  draining.contains(sight.name()) && !isSilent,
                  parts[0].equals(name));
            })
        .toList();
  }

  @Override
  public void close() {
    closed = true;
    lastSeen.seen(ENDED, fullName());
  }
}
