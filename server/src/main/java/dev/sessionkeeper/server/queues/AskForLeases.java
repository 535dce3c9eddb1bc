package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.server.feature.HoldLimits.Hold;
import dev.sessionkeeper.store.Notices;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks other servers to write fresh leases into the store, and answers their requests.
 *
 * <p>A worker that moves to another server presents a lease that may still be in the memory of the
 * first one. If that server does not answer, it is dead or slow; the store then decides whether the
 * lease is held.
 *
 * <p>Threads: any. The listener never blocks.
 */
final class AskForLeases implements Notices.Ear, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(AskForLeases.class);
  private static final String CHANNEL = "keeper_leases";
  private static final Duration PATIENCE = Duration.ofMillis(500);

  /** How long a server that did not answer is not asked again. */
  private static final long SILENT_NANOS = Duration.ofSeconds(5).toNanos();

  private static final int MOST_REMEMBERED = 10_000;

  private final String node = UUID.randomUUID().toString();
  private final Optional<Notices> notices;
  private final FreshLeases fresh;
  private final TimeSource time;
  private final Map<String, CompletableFuture<Void>> asked = new ConcurrentHashMap<>();
  private final Map<String, Long> silentSince = new ConcurrentHashMap<>();
  private final Map<Hold, Boolean> shared =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Hold, Boolean> eldest) {
          return size() > MOST_REMEMBERED;
        }
      };

  AskForLeases(Optional<Notices> notices, FreshLeases fresh, TimeSource time) {
    this.notices = notices;
    this.fresh = fresh;
    this.time = time;
    notices.ifPresent(told -> told.listen(CHANNEL, this));
  }

  /** Returns the name of this server, which the ids of its leases contain. */
  String node() {
    return node;
  }

  /**
   * Returns when the server that issued these leases has written them into the store, or did not
   * answer in time.
   */
  void askFor(String holder, Collection<Hold> holds) {
    if (notices.isEmpty() || holder.equals(node) || isSilent(holder)) {
      return;
    }
    var unknown = holds.stream().filter(hold -> !isShared(hold)).toList();
    if (unknown.isEmpty()) {
      return;
    }
    var answers =
        unknown.stream()
            .map(
                hold -> asked.computeIfAbsent(text(holder, hold), key -> new CompletableFuture<>()))
            .toArray(CompletableFuture[]::new);
    try {
      unknown.forEach(hold -> notices.get().tell(CHANNEL, "? " + text(holder, hold)));
      CompletableFuture.allOf(answers).get(PATIENCE.toNanos(), TimeUnit.NANOSECONDS);
      unknown.forEach(this::remember);
    } catch (TimeoutException e) {
      log.debug("Server {} does not answer; the store tells which of its leases are held", holder);
      silentSince.put(holder, time.nanoTime());
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      unknown.forEach(hold -> asked.remove(text(holder, hold)));
    }
  }

  private boolean isSilent(String holder) {
    long now = time.nanoTime();
    silentSince.values().removeIf(since -> now - since > SILENT_NANOS);
    return silentSince.containsKey(holder);
  }

  private boolean isShared(Hold hold) {
    synchronized (shared) {
      return shared.containsKey(hold);
    }
  }

  private void remember(Hold hold) {
    synchronized (shared) {
      shared.put(hold, true);
    }
  }

  private static String text(String holder, Hold hold) {
    return holder + " " + hold.queue().value() + " " + hold.epoch() + " " + hold.session().value();
  }

  @Override
  public void heard(String payload) {
    var text = payload.substring(2);
    if (payload.startsWith("! ")) {
      var answer = asked.get(text);
      if (answer != null) {
        answer.complete(null);
      }
    } else if (text.startsWith(node + " ")) {
      Thread.startVirtualThread(() -> answer(text));
    }
  }

  /** A lease that is not in memory is in the store already, or was released. */
  private void answer(String text) {
    var parts = text.split(" ", 4);
    var hold = new Hold(QueueName.of(parts[1]), SessionId.of(parts[3]), Long.parseLong(parts[2]));
    try {
      fresh.share(hold);
    } catch (RuntimeException e) {
      log.debug("Could not share the lease of session {}", hold.session(), e);
    }
    notices.ifPresent(told -> told.tell(CHANNEL, "! " + text));
  }

  @Override
  public void everything() {
    // If a question is lost, the asking server's patience ends its wait.
  }

  @Override
  public void close() {
    notices.ifPresent(told -> told.forget(CHANNEL));
  }
}
