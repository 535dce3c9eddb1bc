package dev.sessionkeeper.servicebus;

import com.azure.messaging.servicebus.ServiceBusReceivedMessage;
import com.azure.messaging.servicebus.ServiceBusReceiverAsyncClient;
import com.azure.messaging.servicebus.models.DeadLetterOptions;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * A session that this process has locked: its receiver, its inbox, and our record in its state.
 *
 * <p>Once the lock is lost or the connection broke, the receiver has ended for good and every call
 * fails with lock lost; settlements in progress fail then too, instead of hanging.
 *
 * <p>Waits for the broker are avoided: the record is read while the first message arrives, and
 * marking that message as open is done while it is handled. I1: writes of the record take effect
 * one after the other. I2: a mark that could not be written ends the hold.
 */
final class OpenSession {
  private static final Logger log = LoggerFactory.getLogger(OpenSession.class);
  private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(2);

  final SessionId id;
  final Inbox inbox = new Inbox();
  private final QueueName queue;
  private final ServiceBusReceiverAsyncClient receiver;
  private final Duration patience;
  private final Map<Long, CompletableFuture<Void>> underWay = new ConcurrentHashMap<>();
  private final AtomicLong settlements = new AtomicLong();
  private final AtomicBoolean closed = new AtomicBoolean();
  private volatile Runnable onLost = () -> {};
  private final CompletableFuture<SessionRecord> stored;
  private volatile CompletableFuture<Boolean> marking = CompletableFuture.completedFuture(true);
  private volatile SessionRecord record = SessionRecord.NONE;
  private volatile boolean isStored;

  OpenSession(
      QueueName queue, SessionId id, ServiceBusReceiverAsyncClient receiver, Duration patience) {
    this.queue = queue;
    this.id = id;
    this.receiver = receiver;
    this.patience = patience;
    inbox.onEnd(this::ended);
    receiver.receiveMessages().subscribe(inbox);
    stored = askForRecord().toFuture();
  }

  SessionRecord record() {
    return record;
  }

  long epoch() {
    return record.epoch();
  }

  boolean isLost() {
    return closed.get() || inbox.isEnded();
  }

  KeeperException.LockLost lockLost() {
    return new KeeperException.LockLost("session " + id, record.epoch());
  }

  void requireHeld() {
    if (isLost()) {
      throw lockLost();
    }
  }

  /** Waits for the record of the previous owner. */
  void awaitRecord() {
    became(await(stored));
  }

  /** Reads the state from the broker, which also tells whether the session is still ours. */
  SessionState readState() {
    await(marking);
    return await(askForRecord().toFuture()).state();
  }

  private Mono<SessionRecord> askForRecord() {
    return receiver.getSessionState().defaultIfEmpty(new byte[0]).map(SessionRecord::decode);
  }

  /** Uses the record of a new owner from now on, before the broker has stored it. */
  void taken(SessionRecord newRecord) {
    record = newRecord;
  }

  /** Marks this message as open in the record, without waiting for the write. */
  void markInHand(long sequence) {
    record = record.handedOut(sequence);
    isStored = true;
    marking = receiver.setSessionState(record.encode()).thenReturn(true).toFuture();
    var unused =
        marking.exceptionally(
            failure -> {
              log.debug("Session {} is lost: its record was not written", id, failure);
              if (Translate.isLockEnd(failure)) {
                inbox.endOfLock();
              } else {
                inbox.cancel();
              }
              return false;
            });
  }

  void writeRecord(SessionRecord newRecord) {
    await(marking);
    awaitWrite(receiver.setSessionState(newRecord.encode()).thenReturn(true).toFuture());
    became(newRecord);
  }

  /** Returns whether the broker stores a state of this session. */
  boolean isStored() {
    return isStored;
  }

  /** Deletes the session's state at the broker. */
  void forgetRecord() {
    await(marking);
    awaitWrite(receiver.setSessionState(null).thenReturn(true).toFuture());
    became(SessionRecord.NONE);
  }

  private void became(SessionRecord newRecord) {
    record = newRecord;
    isStored = !newRecord.equals(SessionRecord.NONE);
  }

  Instant renew() {
    return await(receiver.renewSessionLock().map(OffsetDateTime::toInstant).toFuture());
  }

  CompletableFuture<Void> complete(ServiceBusReceivedMessage message) {
    return send(receiver.complete(message));
  }

  /**
   * Dead-letters the message. Renews the lock first, because the SDK takes a refusal for a lost
   * lock as success, while a refused renewal is reported.
   */
  CompletableFuture<Void> deadLetter(
      ServiceBusReceivedMessage message, String reason, String error, Map<String, Object> more) {
    var options =
        new DeadLetterOptions()
            .setDeadLetterReason(reason)
            .setDeadLetterErrorDescription(error)
            .setPropertiesToModify(more);
    return send(receiver.renewSessionLock().then(receiver.deadLetter(message, options)));
  }

  private CompletableFuture<Void> send(Mono<Void> settlement) {
    if (isLost()) {
      return CompletableFuture.failedFuture(lockLost());
    }
    var result = new CompletableFuture<Void>();
    long number = settlements.incrementAndGet();
    underWay.put(number, result);
    var unused =
        settlement
            .toFuture()
            .whenComplete(
                (done, failure) -> {
                  underWay.remove(number);
                  if (failure == null) {
                    result.complete(null);
                  } else {
                    result.completeExceptionally(afterSending(failure));
                  }
                });
    if (inbox.isEnded()) {
      failUnderWay();
    }
    return result;
  }

  /** Runs the action when the lock is lost or the connection broke, but not after a close. */
  void onLost(Runnable action) {
    onLost = action;
  }

  private void ended() {
    failUnderWay();
    if (!closed.get()) {
      onLost.run();
    }
  }

  private void failUnderWay() {
    for (var future : underWay.values()) {
      future.completeExceptionally(
          afterSending(new IllegalStateException("The connection of session " + id + " ended")));
    }
  }

  /** Waits for a write; if its answer is lost, it may have taken effect. */
  private void awaitWrite(CompletableFuture<Boolean> answer) {
    requireHeld();
    try {
      answer.get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw afterSending(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw afterSending(e);
    }
  }

  private <T> T await(CompletableFuture<T> answer) {
    requireHeld();
    try {
      return answer.get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw translated(e);
    } catch (TimeoutException e) {
      throw isLost() ? lockLost() : Translate.error(queue, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Translate.error(queue, e);
    }
  }

  /**
   * Returns the error of a settlement that was sent. Only the broker can say that the lock is lost;
   * a broken connection does not prove it.
   */
  private KeeperException afterSending(Throwable failure) {
    boolean refused = !inbox.isEnded() && Translate.isLockLost(Translate.causeOf(failure));
    return refused || inbox.hasLockEnded()
        ? lockLost()
        : Translate.afterSending(queue, "A settlement of session " + id, failure);
  }

  private KeeperException translated(Throwable failure) {
    return isLost()
        ? lockLost()
        : Translate.underLock(queue, "session " + id, record.epoch(), failure);
  }

  /** Releases the session; unsettled messages are free when this returns. */
  void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    var done = CompletableFuture.runAsync(this::closeReceiver, Thread::startVirtualThread);
    try {
      done.get(CLOSE_PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      log.debug("Session {} was not closed in time; its lock runs out", id, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void closeReceiver() {
    receiver.close();
    inbox.cancel();
  }
}
