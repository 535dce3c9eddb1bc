package dev.sessionkeeper.server.registry;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.registry.SessionKind;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts the active registered sessions of each kind every minute, and keeps a day of samples. Each
 * server counts for itself. While the store is away there are no samples.
 *
 * <p>Threads: one count at a time, on a virtual thread.
 */
final class KindSamples implements AutoCloseable {
  private static final Duration EVERY = Duration.ofMinutes(1);
  private static final Duration DAY = Duration.ofDays(1);
  private static final int MOST = (int) DAY.dividedBy(EVERY);

  private static final Logger log = LoggerFactory.getLogger(KindSamples.class);

  private final Supplier<Map<Integer, Long>> count;
  private final List<SessionKind> kinds;
  private final TimeSource time;
  private final Deque<Counted> samples = new ArrayDeque<>();
  private boolean isClosed;

  KindSamples(Supplier<Map<Integer, Long>> count, Collection<SessionKind> kinds, TimeSource time) {
    this.count = count;
    this.kinds = kinds.stream().sorted(Comparator.comparingInt(SessionKind::number)).toList();
    this.time = time;
  }

  private record Counted(Instant at, Map<Integer, Long> active) {}

  /** Active sessions of each kind, one number per time. */
  record View(List<Instant> at, List<Line> kinds) {}

  /** The active sessions of a kind over time. */
  record Line(int kind, String name, List<Long> active) {}

  Route route() {
    return Route.get(
            "/samples/sessions",
            Role.READ,
            Scope.server("Sessions of all tenants"),
            request -> Response.ok(view(span(request))))
        .summary("Active registered sessions of each kind over the last day, every minute")
        .query("last", "Only so long back, as in PT1H; the default is P1D")
        .answers(200, "One list for each kind", View.class);
  }

  private static Duration span(Request request) {
    return request.query(
        in -> {
          var span = in.optional("last", DAY, Decode.duration(EVERY, DAY));
          in.check();
          return span.get();
        });
  }

  View view(Duration last) {
    var from = time.instant().minus(last);
    List<Counted> shown;
    synchronized (this) {
      shown = samples.stream().filter(sample -> !sample.at().isBefore(from)).toList();
    }
    return new View(
        shown.stream().map(Counted::at).toList(),
        kinds.stream()
            .map(kind -> new Line(kind.number(), kind.name(), active(shown, kind.number())))
            .toList());
  }

  private static List<Long> active(List<Counted> samples, int kind) {
    return samples.stream().map(sample -> sample.active().getOrDefault(kind, 0L)).toList();
  }

  void start() {
    Thread.ofVirtual().name("count-kinds").start(this::countAndGoOn);
  }

  private void countAndGoOn() {
    count();
    synchronized (this) {
      if (!isClosed) {
        time.schedule(EVERY, this::start);
      }
    }
  }

  void count() {
    try {
      var counted = new Counted(time.instant(), count.get());
      synchronized (this) {
        samples.addLast(counted);
        if (samples.size() > MOST) {
          samples.removeFirst();
        }
      }
    } catch (KeeperException e) {
      log.debug("The sessions of each kind could not be counted: {}", e.getMessage());
    }
  }

  @Override
  public synchronized void close() {
    isClosed = true;
  }
}
