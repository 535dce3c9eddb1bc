package dev.sessionkeeper.server.system;

import dev.sessionkeeper.server.activity.LastSeen;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** Tells all servers of a store that this one is there, every five seconds. */
final class Beat implements AutoCloseable {
  private static final Duration EVERY = Duration.ofSeconds(5);
  private static final Duration SILENT = Duration.ofSeconds(30);
  private static final Duration FORGOTTEN = Duration.ofHours(1);
  private static final String KIND = "node";
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
   * @param silent it was not heard of for a while; after an hour it is forgotten
   * @param self it is the server that answers
   */
  record Node(
      String name,
      String version,
      Instant startedAt,
      Instant lastSeenAt,
      boolean silent,
      boolean self) {}

  void start() {
    lastSeen.seen(KIND, String.join(SEPARATOR, name, version, startedAt.toString()));
    time.schedule(
        EVERY,
        () -> {
          if (!closed) {
            start();
          }
        });
  }

  Instant startedAt() {
    return startedAt;
  }

  List<Node> nodes() {
    var now = time.instant();
    return lastSeen.list(KIND).stream()
        .filter(sight -> sight.lastSeenAt().isAfter(now.minus(FORGOTTEN)))
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
                  parts[0].equals(name));
            })
        .toList();
  }

  @Override
  public void close() {
    closed = true;
  }
}
