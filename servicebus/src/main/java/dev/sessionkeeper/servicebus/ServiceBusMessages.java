package dev.sessionkeeper.servicebus;

import com.azure.messaging.servicebus.ServiceBusReceivedMessage;
import com.azure.messaging.servicebus.ServiceBusReceiverAsyncClient;
import com.azure.messaging.servicebus.models.DeadLetterOptions;
import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.MessageSource;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * The messages of a queue without sessions. A message that is retried later stays locked here, with
 * renewals, until it is due, and is then released to the broker, which counts the attempt.
 */
final class ServiceBusMessages implements MessageSource, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ServiceBusMessages.class);

  /** How long to wait for further messages: the broker sends available messages in one burst. */
  private static final Duration BURST = Duration.ofMillis(5);

  private final QueueContext queue;
  private final Timing timing;
  private final Supplier<ServiceBusReceiverAsyncClient> receivers;
  private final Map<String, InHand> inHand = new ConcurrentHashMap<>();
  private Receiver receiver;

  ServiceBusMessages(
      QueueContext queue, Timing timing, Supplier<ServiceBusReceiverAsyncClient> receivers) {
    this.queue = queue;
    this.timing = timing;
    this.receivers = receivers;
    this.receiver = Receiver.open(receivers.get(), queue);
  }

  @Override
  public List<Receipted> receive(int max, Duration wait) throws InterruptedException {
    if (max < 1) {
      throw new IllegalArgumentException("max must be at least 1, was " + max);
    }
    long end = queue.nanoTime() + Math.max(wait.toNanos(), Duration.ofMillis(50).toNanos());
    var current = current();
    forgetLost();
    while (true) {
      current.inbox.want(max);
      var left = Duration.ofNanos(Math.max(0, end - queue.nanoTime()));
      var waits = current.inbox.peek(left).isPresent();
      if (waits) {
        current.inbox.gather(max, BURST);
      }
      var batch = new ArrayList<Receipted>();
      while (batch.size() < max) {
        var message = current.inbox.poll();
        if (message.isEmpty()) {
          break;
        }
        handOut(current, message.get()).ifPresent(batch::add);
      }
      if (!batch.isEmpty() || !waits || end - queue.nanoTime() <= 0) {
        return batch;
      }
    }
  }

  /** Forgets messages whose lock has expired, because another consumer may have them. */
  private void forgetLost() {
    long longAgo = queue.nanoTime() - queue.settings().lockDuration().multipliedBy(2).toNanos();
    inHand.values().removeIf(held -> held.lockedAt() - longAgo < 0);
  }

  private Optional<Receipted> handOut(Receiver from, ServiceBusReceivedMessage message) {
    var held = new InHand(from, message, attemptOf(message), queue.nanoTime());
    var until = message.getLockedUntil().toInstant();
    var lock = queue.settings().lockDuration();
    var age = from.ageOf(message, queue.nanoTime());
    queue.clock().lockTaken(until, lock, age);
    if (age.compareTo(lock.dividedBy(2)) > 0) {
      // The message waited in the inbox; another consumer may have it by now.
      try {
        until = renewed(held);
      } catch (KeeperException e) {
        return Optional.empty();
      }
    }
    if (queue.settings().isDeadLetterAfter(held.attempt() - 1)) {
      var unused = deadLetter(held, PoisonPolicy.USED_UP, "", held.attempt() - 1);
      return Optional.empty();
    }
    var content = read(held);
    if (content.isEmpty()) {
      return Optional.empty();
    }
    inHand.put(message.getLockToken(), held);
    var delivery =
        new Delivery(
            content.get(),
            message.getSequenceNumber(),
            held.attempt(),
            QueueContext.enqueuedAt(message));
    return Optional.of(new Receipted(delivery, message.getLockToken(), until));
  }

  /**
   * Reads a message. One that cannot be read is set aside, because it would come again and again.
   */
  private Optional<Message> read(InHand held) {
    try {
      return Optional.of(MessageCodec.decode(held.message()));
    } catch (RuntimeException e) {
      log.warn("Dead-lettered {} of {}: it cannot be read", held.name(), queue.name, e);
      var unused = deadLetter(held, QueueContext.UNREADABLE, e.toString(), held.attempt() - 1);
      return Optional.empty();
    }
  }

  /** Returns the attempt number. AMQP counts the failed deliveries before this one. */
  private static int attemptOf(ServiceBusReceivedMessage message) {
    return (int) message.getDeliveryCount() + 1;
  }

  @Override
  public CompletionStage<Void> settle(String receipt, Settlement settlement) {
    var held = inHand.remove(receipt);
    if (held == null) {
      return CompletableFuture.failedFuture(lockLost(receipt));
    }
    return switch (settlement) {
      case Settlement.Complete complete -> send(held, held.from().client.complete(held.message()));
      case Settlement.DeadLetter letter ->
          deadLetter(held, letter.reason(), letter.error(), held.attempt());
      case Settlement.Park park -> deadLetter(held, park.reason(), "", held.attempt());
      case Settlement.Retry retry -> retry(held, retry);
    };
  }

  private CompletableFuture<Void> retry(InHand held, Settlement.Retry retry) {
    if (queue.settings().settlementAfter(held.attempt(), retry)
        instanceof Settlement.DeadLetter letter) {
      return deadLetter(held, letter.reason(), letter.error(), held.attempt());
    }
    if (retry.delay().isZero()) {
      return send(held, held.from().client.abandon(held.message()));
    }
    try {
      renewed(held);
    } catch (KeeperException e) {
      return CompletableFuture.failedFuture(e);
    }
    keep(held, queue.nanoTime() + retry.delay().toNanos());
    return CompletableFuture.completedFuture(null);
  }

  /** Keeps the lock until a moment, in steps, then abandons the message. */
  private void keep(InHand held, long dueAt) {
    var left = Duration.ofNanos(dueAt - queue.nanoTime());
    var step = queue.settings().lockDuration().dividedBy(3);
    boolean last = left.compareTo(step) <= 0;
    timing
        .time()
        .schedule(
            last ? left : step,
            () ->
                Thread.startVirtualThread(
                    () -> {
                      if (last) {
                        var unused = send(held, held.from().client.abandon(held.message()));
                      } else {
                        renewed(held);
                        keep(held, dueAt);
                      }
                    }));
  }

  private CompletableFuture<Void> deadLetter(
      InHand held, String reason, String error, int attempts) {
    var options =
        new DeadLetterOptions()
            .setDeadLetterReason(reason)
            .setDeadLetterErrorDescription(error)
            .setPropertiesToModify(queue.deadLetterProperties(held.message(), attempts));
    var client = held.from().client;
    // Renews first, because the SDK takes a refusal for a lost lock as success.
    return send(
        held,
        client.renewMessageLock(held.message()).then(client.deadLetter(held.message(), options)));
  }

  private CompletableFuture<Void> send(InHand held, Mono<Void> settlement) {
    boolean wasCut = held.from().inbox.isEnded();
    return settlement
        .toFuture()
        .exceptionallyCompose(
            failure -> CompletableFuture.failedFuture(afterSending(held, wasCut, failure)));
  }

  /**
   * Returns the error of a settlement that failed.
   *
   * @param wasCut whether the connection was lost before the settlement, which was then never sent
   */
  private KeeperException afterSending(InHand held, boolean wasCut, Throwable failure) {
    boolean isCutNow = !wasCut && held.from().inbox.isEnded();
    return Translate.isLockLost(Translate.causeOf(failure)) && !isCutNow
        ? new KeeperException.LockLost(held.name(), 1)
        : Translate.afterSending(queue.name, "The settlement of " + held.name(), failure);
  }

  @Override
  public Instant renew(String receipt) {
    var held = inHand.get(receipt);
    if (held == null) {
      throw lockLost(receipt);
    }
    var until = renewed(held);
    inHand.computeIfPresent(receipt, (key, old) -> old.lockedAt(queue.nanoTime()));
    return until;
  }

  private Instant renewed(InHand held) {
    try {
      return held.from()
          .client
          .renewMessageLock(held.message())
          .map(OffsetDateTime::toInstant)
          .toFuture()
          .get(timing.patience().toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw Translate.underLock(queue.name, held.name(), 1, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Translate.error(queue.name, e);
    }
  }

  private static KeeperException.LockLost lockLost(String receipt) {
    return new KeeperException.LockLost("message with receipt " + receipt, 1);
  }

  private synchronized Receiver current() {
    if (receiver.inbox.isEnded()) {
      receiver.client.close();
      receiver = Receiver.open(receivers.get(), queue);
    }
    return receiver;
  }

  @Override
  public synchronized void close() {
    receiver.client.close();
  }

  private record InHand(
      Receiver from, ServiceBusReceivedMessage message, int attempt, long lockedAt) {
    InHand lockedAt(long newest) {
      return new InHand(from, message, attempt, newest);
    }

    String name() {
      return "message " + message.getSequenceNumber();
    }
  }

  /**
   * A receiver.
   *
   * @param arrivals when each message in the inbox arrived, by its lock token; monotonic
   */
  private record Receiver(
      ServiceBusReceiverAsyncClient client, Inbox inbox, Map<String, Long> arrivals) {
    static Receiver open(ServiceBusReceiverAsyncClient client, QueueContext queue) {
      var inbox = new Inbox();
      var arrivals = new ConcurrentHashMap<String, Long>();
      client
          .receiveMessages()
          .doOnNext(message -> arrivals.put(message.getLockToken(), queue.nanoTime()))
          .subscribe(inbox);
      return new Receiver(client, inbox, arrivals);
    }

    Duration ageOf(ServiceBusReceivedMessage message, long now) {
      var arrived = arrivals.remove(message.getLockToken());
      return arrived == null ? Duration.ZERO : Duration.ofNanos(now - arrived);
    }
  }
}
