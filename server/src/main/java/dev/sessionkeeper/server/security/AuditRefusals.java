package dev.sessionkeeper.server.security;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.server.http.RequestListener;
import dev.sessionkeeper.store.Actor;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes audit rows for refused requests: at most one row a minute for each caller, address, route
 * and status. The first refusal is written at once; a row at the end of the minute counts the
 * others.
 *
 * <p>I1: at most {@value #MOST_KEYS} kinds of refusal are counted at a time; all further ones share
 * one row a minute. So an attacker can fill neither the memory nor the table. Called on the event
 * loop; virtual threads write.
 */
public final class AuditRefusals implements RequestListener, AutoCloseable {
  static final int MOST_KEYS = 256;
  static final Duration WINDOW = Duration.ofMinutes(1);
  static final String ACTION = "access.refused";

  private static final Logger log = LoggerFactory.getLogger(AuditRefusals.class);
  private static final Key OVERFLOW = new Key(Actor.of("many"), "many", 0);

  private final AuditLog audit;
  private final TimeSource time;
  private final RequestListener next;
  private final Map<Key, Integer> uncounted = new HashMap<>();

  /**
   * Creates the recorder.
   *
   * @param next also receives all events
   */
  public AuditRefusals(AuditLog audit, TimeSource time, RequestListener next) {
    this.audit = audit;
    this.time = time;
    this.next = next;
  }

  private record Key(Actor actor, String route, int status) {}

  @Override
  public void refused(Actor actor, String route, int status) {
    next.refused(actor, route, status);
    Key key;
    synchronized (uncounted) {
      var own = new Key(actor, route, status);
      key = uncounted.containsKey(own) || uncounted.size() < MOST_KEYS ? own : OVERFLOW;
      if (uncounted.computeIfPresent(key, (known, count) -> count + 1) != null) {
        return;
      }
      uncounted.put(key, 0);
    }
    writeSoon(key, 1);
    time.schedule(WINDOW, () -> endWindow(key));
  }

  /** Continues counting while refusals come, and forgets the key after a quiet minute. */
  private void endWindow(Key key) {
    int count;
    synchronized (uncounted) {
      count = uncounted.getOrDefault(key, 0);
      if (count == 0) {
        uncounted.remove(key);
        return;
      }
      uncounted.put(key, 0);
    }
    writeSoon(key, count);
    time.schedule(WINDOW, () -> endWindow(key));
  }

  private void writeSoon(Key key, int count) {
    Thread.ofVirtual().name("audit-refusals").start(() -> write(key, count));
  }

  private void write(Key key, int count) {
    var detail = "status " + key.status();
    try {
      audit.record(new AuditLog.Entry(key.actor(), ACTION, key.route(), detail, count));
    } catch (KeeperException e) {
      log.warn(
          "{} refusals of {} at {} have no audit row: {}",
          count,
          key.actor(),
          key.route(),
          e.getMessage());
    }
  }

  /** Writes the counts of the running minute. */
  @Override
  public void close() {
    List<Map.Entry<Key, Integer>> open;
    synchronized (uncounted) {
      open = new ArrayList<>(Map.copyOf(uncounted).entrySet());
      uncounted.clear();
    }
    open.stream()
        .filter(entry -> entry.getValue() > 0)
        .forEach(entry -> write(entry.getKey(), entry.getValue()));
  }

  @Override
  public void answered(String route, int status, Duration took) {
    next.answered(route, status, took);
  }

  @Override
  public Handling handling(String route, UnaryOperator<String> header) {
    return next.handling(route, header);
  }
}
