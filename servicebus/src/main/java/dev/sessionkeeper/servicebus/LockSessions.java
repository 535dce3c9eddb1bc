package dev.sessionkeeper.servicebus;

import com.azure.messaging.servicebus.ServiceBusReceiverAsyncClient;
import com.azure.messaging.servicebus.ServiceBusSessionReceiverAsyncClient;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Locks sessions at the broker, as many at once as workers wait.
 *
 * <p>A request for a session cannot be cancelled without the risk that its lock is granted unused,
 * so the request outlives the worker's wait and serves the next one. A new request for every wait
 * would leak links.
 */
final class LockSessions {
  private static final Logger log = LoggerFactory.getLogger(LockSessions.class);
  private static final Duration HEAD_PATIENCE = Duration.ofSeconds(2);
  private static final Duration AFTER_FAILURE = Duration.ofMillis(200);

  private final QueueContext queue;
  private final ServiceBusSessionReceiverAsyncClient client;
  private final Timing timing;
  private final ReadySessions ready;
  private final ShelveSessions shelf;
  private final AtomicInteger pending = new AtomicInteger();
  private final AtomicReference<KeeperException.@Nullable Rejected> refusal =
      new AtomicReference<>();
  private volatile @Nullable Throwable failure;
  private volatile boolean closed;

  LockSessions(
      QueueContext queue,
      ServiceBusSessionReceiverAsyncClient client,
      Timing timing,
      ReadySessions ready,
      ShelveSessions shelf) {
    this.queue = queue;
    this.client = client;
    this.timing = timing;
    this.ready = ready;
    this.shelf = shelf;
  }

  boolean isPending() {
    return pending.get() > 0;
  }

  void lockFor(int waiters) {
    while (!closed && failure == null && pending.get() < waiters) {
      pending.incrementAndGet();
      request();
    }
  }

  /** Locks the next session in advance, for a caller that will ask for one soon. */
  void probe() {
    ready.keepNext();
    lockFor(1);
  }

  void failIfFailing() {
    var refused = refusal.getAndSet(null);
    if (refused != null) {
      throw refused;
    }
    var reason = failure;
    if (reason != null) {
      throw Translate.error(queue.name, reason);
    }
  }

  private void request() {
    var unused =
        client
            .acceptNextSession()
            .toFuture()
            .whenCompleteAsync(this::answered, Thread::startVirtualThread);
  }

  private void answered(
      @Nullable ServiceBusReceiverAsyncClient receiver, @Nullable Throwable reason) {
    try {
      if (receiver != null && NativeFields.isSessionId(receiver.getSessionId())) {
        offer(receiver);
      } else if (receiver != null) {
        refuse(receiver);
      } else if (!closed && reason != null) {
        failed(reason);
      }
    } catch (KeeperException e) {
      log.debug("A session of {} was lost again while it was opened", queue.name, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      log.error("A session of {} could not be opened; its lock is released", queue.name, e);
      if (receiver != null) {
        receiver.close();
      }
    } finally {
      pending.decrementAndGet();
      ready.wake();
    }
  }

  /** Sets aside the messages of a session whose id is not valid here, and tells the workers. */
  private void refuse(ServiceBusReceiverAsyncClient receiver) throws InterruptedException {
    var setAside = new SetAsideSession(queue, timing.patience());
    setAside.setAside(receiver);
    refusal.set(setAside.refusal(receiver.getSessionId()));
  }

  private void offer(ServiceBusReceiverAsyncClient receiver) throws InterruptedException {
    var session = open(SessionId.of(receiver.getSessionId()), receiver);
    boolean offered = false;
    ready.expectOne();
    try {
      offered = isReady(session, HEAD_PATIENCE) && ready.offer(session);
    } finally {
      if (!offered && !shelf.holds(session)) {
        session.close();
      }
      ready.expectedCame();
    }
  }

  OpenSession open(SessionId id, ServiceBusReceiverAsyncClient receiver) {
    return new OpenSession(queue.name, id, receiver, timing.patience());
  }

  CompletableFuture<ServiceBusReceiverAsyncClient> lock(SessionId session) {
    return client.acceptSession(session.value()).toFuture();
  }

  /**
   * Returns whether the session has work for an owner now. A session whose head waits is shelved.
   */
  boolean isReady(OpenSession session, Duration wait) throws InterruptedException {
    session.inbox.want(queue.usualBatch());
    var head = session.inbox.peek(wait);
    if (head.isEmpty()) {
      return false;
    }
    queue
        .clock()
        .lockTaken(head.get().getLockedUntil().toInstant(), queue.settings().lockDuration());
    session.awaitRecord();
    return !shelf.shelveIfWaiting(session);
  }

  /**
   * Handles a failed request: waiting workers learn of it when their time is over; until then the
   * request is repeated.
   */
  private void failed(Throwable reason) {
    log.debug("No session of {} could be asked for", queue.name, reason);
    failure = reason;
    timing
        .time()
        .schedule(
            AFTER_FAILURE,
            () -> {
              failure = null;
              ready.wake();
            });
  }

  void close() {
    closed = true;
    client.close();
  }
}
