package dev.sessionkeeper.testkit;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.HeldSession.Settled;
import dev.sessionkeeper.spi.QueueProvider;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** One owner of a {@link RandomisedOwners} run, which sometimes abandons its session. */
final class RandomisedOwner {
  private static final int MOST_PER_HOLD = 20;

  private final Owner owner;
  private final Random random;
  private final QueueProvider provider;
  private final QueueName queue;
  private final ContractTime time;
  private final History history;
  private final Consumer<Violation> violations;
  private final ArrayDeque<Abandoned> abandoned = new ArrayDeque<>();

  RandomisedOwner(
      String name,
      Random random,
      QueueProvider provider,
      QueueName queue,
      ContractTime time,
      History history,
      Consumer<Violation> violations) {
    this.owner = Owner.of(name);
    this.random = random;
    this.provider = provider;
    this.queue = queue;
    this.time = time;
    this.history = history;
    this.violations = violations;
  }

  /** Accepts sessions until the run is over, and counts the messages that have ended. */
  void work(AtomicInteger finished, BooleanSupplier over) {
    try {
      while (!over.getAsBoolean()) {
        if (provider.sessions(queue).acceptNext(owner, time.blink())
            instanceof AcceptResult.Accepted accepted) {
          hold(accepted.session(), finished);
        } else {
          Eventually.sleep(Duration.ofMillis(1));
        }
        tryAgainWhatIsTooLate();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (KeeperException e) {
      // The only failure that an owner may see is a lost lease.
      violations.accept(new Violation("I2", owner + " was refused with " + e.getMessage()));
    }
  }

  private void hold(HeldSession session, AtomicInteger finished) throws InterruptedException {
    try {
      for (int handled = 0; handled < MOST_PER_HOLD; ) {
        var batch = session.receive(random.nextInt(1, 6), Duration.ZERO);
        if (batch.isEmpty() || !handle(session, batch, finished)) {
          break;
        }
        handled += batch.size();
      }
    } catch (KeeperException.LockLost e) {
      history.lost(session.id(), session.lease().epoch());
    }
    if (abandoned.isEmpty() || !abandoned.getLast().session.equals(session)) {
      session.close();
    }
  }

  /** Returns whether to continue this hold. */
  private boolean handle(HeldSession session, List<Delivery> batch, AtomicInteger finished) {
    long epoch = session.lease().epoch();
    for (var delivery : batch) {
      history.started(session.id(), epoch, delivery);
      int dice = random.nextInt(1000);
      if (dice < 3) {
        abandon(session, delivery);
        return false;
      }
      if (dice < 30) {
        history.ended(session.id(), epoch, delivery, Settlement.retryAfter(Duration.ZERO));
        return false;
      }
      var settlement = settlementFor(dice);
      history.ended(session.id(), epoch, delivery, settlement);
      settle(session, delivery, settlement);
      if (!History.isFinal(settlement)) {
        return false;
      }
      finished.incrementAndGet();
    }
    return true;
  }

  private Settlement settlementFor(int dice) {
    if (dice < 130) {
      return Settlement.retryAfter(Duration.ofMillis(random.nextInt(30)), "by chance");
    }
    return dice < 160 ? Settlement.deadLetter("by chance") : Settlement.complete();
  }

  private void settle(HeldSession session, Delivery delivery, Settlement settlement) {
    var sent =
        history.settling(
            session.id(), session.lease().epoch(), delivery.id(), delivery.sequence(), settlement);
    try {
      session
          .settle(List.of(new Settled(delivery.sequence(), settlement)))
          .toCompletableFuture()
          .join();
      sent.run();
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : e;
    }
  }

  /** Abandons the session with its current message, and returns to it too late. */
  private void abandon(HeldSession session, Delivery delivery) {
    history.ended(
        session.id(), session.lease().epoch(), delivery, Settlement.retryAfter(Duration.ZERO));
    history.lost(session.id(), session.lease().epoch());
    abandoned.add(
        new Abandoned(
            session, delivery, time.source().nanoTime() + Duration.ofSeconds(2).toNanos()));
  }

  private void tryAgainWhatIsTooLate() {
    var late = new ArrayList<Abandoned>();
    while (!abandoned.isEmpty() && abandoned.getFirst().until <= time.source().nanoTime()) {
      late.add(abandoned.removeFirst());
    }
    for (var one : late) {
      try {
        settle(one.session, one.delivery, Settlement.complete());
      } catch (KeeperException.LockLost e) {
        one.session.close();
      }
    }
  }

  /**
   * A session that its owner abandoned.
   *
   * @param until when its lease has surely expired
   */
  private record Abandoned(HeldSession session, Delivery delivery, long until) {}
}
