package dev.sessionkeeper.server.streams;

import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.client.EventHandler;
import dev.sessionkeeper.client.EventStream;
import dev.sessionkeeper.client.StreamedEvent;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import dev.sessionkeeper.store.Database;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.core.ConditionTimeoutException;

/**
 * Many readers of one stream that lose their connections at random, over a restart of the server.
 * Each must see every event once, in order.
 *
 * <p>Run its main method for 1,000 readers.
 */
final class CrowdOfReaders {
  private static final String STREAM = "crowd";

  private final int readers;
  private final int events;
  private final Database database;
  private final Random random = new Random(7);
  private final ConcurrentLinkedQueue<String> violations = new ConcurrentLinkedQueue<>();

  CrowdOfReaders(int readers, int events, Database database) {
    this.readers = readers;
    this.events = events;
    this.database = database;
  }

  public static void main(String[] args) throws Exception {
    int readers = args.length > 0 ? Integer.parseInt(args[0]) : 1_000;
    try (var postgres = EmbeddedPostgres.temporary()) {
      var crowd = new CrowdOfReaders(readers, 500, Database.of(postgres.dataSource()));
      long began = System.nanoTime();
      var violations = crowd.run();
      System.out.printf(
          "%d readers, %d events each, %d violations, %d s%n",
          readers,
          500,
          violations.size(),
          TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began));
      violations.stream().limit(10).forEach(System.out::println);
      System.exit(violations.isEmpty() ? 0 : 1);
    }
  }

  /** Returns all violations. */
  List<String> run() throws Exception {
    var server = StreamServer.in(database, StreamsConfig.ofDefaults(), 0);
    int port = server.port();
    var crowd = new ArrayList<Reader>();
    for (int i = 0; i < readers; i++) {
      crowd.add(new Reader(i, server.address()));
    }
    try {
      for (int n = 1; n <= events; n++) {
        server.publish(STREAM, n, n);
        disconnectSome(crowd);
        if (n == events / 2) {
          server.close();
          server = StreamServer.in(database, StreamsConfig.ofDefaults(), port);
        }
      }
      awaitAll(crowd);
    } finally {
      crowd.parallelStream().forEach(Reader::close);
      server.close();
    }
    return List.copyOf(violations);
  }

  private void disconnectSome(List<Reader> crowd) {
    for (int i = 0; i < Math.max(1, readers / 100); i++) {
      crowd.get(random.nextInt(readers)).reconnect();
    }
  }

  private void awaitAll(List<Reader> crowd) {
    try {
      await()
          .atMost(Duration.ofMinutes(2))
          .pollInterval(Duration.ofMillis(20))
          .until(() -> crowd.stream().allMatch(reader -> reader.seen.get() >= events));
    } catch (ConditionTimeoutException e) {
      crowd.stream()
          .filter(reader -> reader.seen.get() < events)
          .forEach(
              reader -> violations.add(reader + " stopped at " + reader.seen + " of " + events));
    }
  }

  /** One reader; a disconnect closes its stream and opens another from its last event. */
  private final class Reader implements EventHandler {
    private final int number;
    private final URI server;
    private final AtomicLong seen = new AtomicLong();
    private EventStream stream;

    Reader(int number, URI server) {
      this.number = number;
      this.server = server;
      this.stream = open();
    }

    private EventStream open() {
      return EventStream.of(server, STREAM)
          .after(seen.get())
          .retry(new RetryPolicy(9_999, Duration.ofMillis(50), 2, Duration.ofSeconds(1), 0.5))
          .open(this);
    }

    synchronized void reconnect() {
      stream.close();
      stream = open();
    }

    synchronized void close() {
      stream.close();
    }

    @Override
    public void onEvent(StreamedEvent event) {
      long last = seen.getAndSet(event.id());
      if (event.id() != last + 1) {
        violations.add(this + " got " + event.id() + " after " + last);
      }
      if (!event.data().equals("{\"n\":" + event.id() + "}")) {
        violations.add(this + " got event " + event.id() + " with " + event.data());
      }
    }

    @Override
    public void onGap(long had, long first) {
      violations.add(this + " was told of a gap from " + had + " to " + first);
    }

    @Override
    public String toString() {
      return "reader " + number;
    }
  }
}
