package dev.sessionkeeper.servicebus;

import dev.sessionkeeper.SessionId;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Locks one chosen session.
 *
 * <p>The SDK names the link after the session and closes links in the background, so a name that
 * was just used is refused for a moment, and the request is repeated.
 */
final class LockNamedSession {
  private static final Duration PAUSE = Duration.ofMillis(30);
  private static final Duration LOCAL_PATIENCE = Duration.ofSeconds(1);

  /** The result of the attempt. */
  sealed interface Result {}

  /** The session is ours. */
  record Taken(OpenSession session) implements Result {}

  /** The session had no work in time. */
  record Empty() implements Result {}

  /** Another process holds the session. */
  record Elsewhere() implements Result {}

  private final QueueContext queue;
  private final LockSessions locking;
  private final ReadySessions ready;
  private final ShelveSessions shelf;

  LockNamedSession(
      QueueContext queue, LockSessions locking, ReadySessions ready, ShelveSessions shelf) {
    this.queue = queue;
    this.locking = locking;
    this.ready = ready;
    this.shelf = shelf;
  }

  Result lock(SessionId session, Duration wait) throws InterruptedException {
    long end = queue.nanoTime() + wait.toNanos();
    long refusedUntil = queue.nanoTime() + LOCAL_PATIENCE.toNanos();
    while (true) {
      var here = ready.take(session);
      if (here.isPresent()) {
        return new Taken(here.get());
      }
      if (!shelf.holds(session)) {
        var result = ask(session, end);
        boolean maybeOurs = locking.isPending() && queue.nanoTime() < refusedUntil;
        if (result.isPresent() && !(result.get() instanceof Elsewhere && maybeOurs)) {
          return result.get();
        }
      }
      if (queue.nanoTime() > Math.max(end, refusedUntil)
          || (shelf.holds(session) && queue.nanoTime() > end)) {
        return new Empty();
      }
      Thread.sleep(PAUSE);
    }
  }

  /** Asks for the session. Empty if the SDK was not ready for that name. */
  private Optional<Result> ask(SessionId session, long end) throws InterruptedException {
    try {
      var receiver = locking.lock(session).get(20, TimeUnit.SECONDS);
      var open = locking.open(session, receiver);
      var left = Duration.ofNanos(Math.max(1, end - queue.nanoTime()));
      if (locking.isReady(open, left)) {
        return Optional.of(new Taken(open));
      }
      if (open.isLost()) {
        open.close();
        return Optional.empty();
      }
      if (shelf.holds(open)) {
        return Optional.empty();
      }
      open.close();
      return Optional.of(new Empty());
    } catch (ExecutionException e) {
      if (Translate.isContention(e)) {
        return Optional.of(new Elsewhere());
      }
      if (Translate.causeOf(e) instanceof IllegalStateException) {
        return Optional.empty();
      }
      throw Translate.error(queue.name, e);
    } catch (TimeoutException e) {
      throw Translate.error(queue.name, e);
    }
  }
}
