package dev.sessionkeeper.testkit;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.processor.MessageHandler;
import dev.sessionkeeper.processor.ProcessorEvent;
import dev.sessionkeeper.processor.SessionContext;
import dev.sessionkeeper.spi.OperableSessions;
import dev.sessionkeeper.spi.OperableSessions.Act;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.time.TimeSource;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** Ends each attempt of each message as the seed decides, and records it in the run record. */
final class RandomisedHandler implements MessageHandler, Consumer<ProcessorEvent> {
  private final QueueProvider provider;
  private final QueueName queue;
  private final long seed;
  private final RunRecord ledger;
  private final History history;
  private final TimeSource time;
  private final Set<MessageId> setAside = ConcurrentHashMap.newKeySet();
  private final Set<MessageId> lostLock = ConcurrentHashMap.newKeySet();
  private final AtomicInteger settled = new AtomicInteger();
  private final AtomicInteger locksLost = new AtomicInteger();
  private final AtomicInteger inside = new AtomicInteger();

  RandomisedHandler(
      QueueProvider provider,
      QueueName queue,
      long seed,
      RunRecord ledger,
      History history,
      TimeSource time) {
    this.provider = provider;
    this.queue = queue;
    this.seed = seed;
    this.ledger = ledger;
    this.history = history;
    this.time = time;
  }

  static MessageId idOf(SessionId session, int number) {
    return MessageId.of(session + "#" + number);
  }

  boolean isSetAside(MessageId id) {
    return setAside.contains(id);
  }

  int setAside() {
    return setAside.size();
  }

  /** Returns how many deliveries ended for good, counting repetitions. */
  int settled() {
    return settled.get();
  }

  int locksLost() {
    return locksLost.get();
  }

  boolean isQuiet() {
    return inside.get() == 0;
  }

  @Override
  public Settlement handle(Delivery delivery, SessionContext session) throws Exception {
    int number = Integer.parseInt(delivery.payload().asText());
    inside.incrementAndGet();
    boolean isDone = false;
    try {
      if (!ledger.begin(session.id(), session.epoch(), number)) {
        return Settlement
            .complete(); // The handler came too late; the provider refuses its settlement, as the
        // record did.
      }
      var settlement = act(delivery, session, number);
      isDone = settlement instanceof Settlement.Complete;
      return settlement;
    } finally {
      if (isDone) {
        settled.incrementAndGet();
        ledger.endDone(session.id(), session.epoch(), number);
      } else {
        ledger.endUndone(session.id(), session.epoch());
      }
      inside.decrementAndGet();
    }
  }

  private Settlement act(Delivery delivery, SessionContext session, int number) throws Exception {
    int attempt = delivery.attempt();
    var dice = new SplittableRandom(Objects.hash(seed, session.id(), number, attempt));
    boolean isPoison =
        new SplittableRandom(Objects.hash(seed, session.id(), number, "poison")).nextInt(200) == 0;
    if (isPoison) {
      throw new IllegalArgumentException("poison, as the seed wants it");
    }
    int choice = dice.nextInt(100);
    if (choice < 3) {
      throw new IllegalStateException("fails, as the seed wants it");
    } else if (choice < 5) {
      return Settlement.retryAfter(Duration.ofMillis(dice.nextInt(40)), "later");
    } else if (choice < 6) {
      return Settlement.deadLetter("as the seed wants it");
    } else if (choice < 8) {
      sleep(Duration.ofMillis(dice.nextInt(10)));
    } else if (choice < 9) {
      loseLock(delivery.id(), session);
    } else if (choice < 10) {
      session.releaseSession();
    } else if (choice < 11) {
      var bytes = Integer.toString(number).getBytes(StandardCharsets.UTF_8);
      session.writeStateOnSettle(new SessionState.Write(bytes, SessionState.ANY_VERSION));
    } else if (choice < 12) {
      throw new AssertionError("an error, as the seed wants it");
    }
    return Settlement.complete();
  }

  private void loseLock(MessageId id, SessionContext session) {
    // Once per message: a release counts no attempt, so the same choice would repeat for ever.
    if (provider instanceof OperableSessions operable && lostLock.add(id)) {
      operable.act(queue, session.id(), Act.RELEASE, "as the seed wants it");
      locksLost.incrementAndGet();
    }
  }

  private void record(ProcessorEvent event) {
    if (event instanceof ProcessorEvent.HandlingStarted started) {
      history.started(started.session(), started.epoch(), started.delivery());
    } else if (event instanceof ProcessorEvent.HandlingEnded ended) {
      history.ended(ended.session(), ended.epoch(), ended.delivery(), ended.settlement());
    } else if (event instanceof ProcessorEvent.LeaseLost lost) {
      history.lost(lost.session(), lost.epoch());
    } else if (event instanceof ProcessorEvent.OrderViolated violated) {
      ledger.violated("S-03", violated.toString());
    }
  }

  private void sleep(Duration duration) throws InterruptedException {
    var over = new CountDownLatch(1);
    time.schedule(duration, over::countDown);
    over.await();
  }

  /** Records the processor's decision about a failure, from its events. */
  @Override
  public void accept(ProcessorEvent event) {
    record(event);
    if (event instanceof ProcessorEvent.HandlingEnded ended
        && ended.settlement() instanceof Settlement.DeadLetter) {
      int number = Integer.parseInt(ended.delivery().payload().asText());
      setAside.add(ended.delivery().id());
      settled.incrementAndGet();
      ledger.setAside(ended.session(), ended.epoch(), number);
    }
  }
}
