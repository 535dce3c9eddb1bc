package dev.sessionkeeper.simulator;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.HeldSession.Settled;
import dev.sessionkeeper.spi.SessionSource;
import dev.sessionkeeper.testkit.History;
import dev.sessionkeeper.testkit.SettableClock;
import dev.sessionkeeper.testkit.Violation;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** One owner of a {@link Simulation}: makes one small step at each turn. */
final class SimulatedOwner {
  private final Owner owner;
  private final Random random;
  private final SessionSource source;
  private final SettableClock clock;
  private final History history;
  private final ArrayDeque<Delivery> batch = new ArrayDeque<>();
  private final ArrayDeque<Stalled> stalled = new ArrayDeque<>();
  private final List<Violation> violations = new ArrayList<>();
  private @Nullable HeldSession held;
  private @Nullable Delivery inWork;
  private int finished;

  /** A hold whose owner is frozen with an open message, until its lease has surely expired. */
  private record Stalled(HeldSession session, Delivery delivery, long until) {}

  SimulatedOwner(
      Owner owner, Random random, SessionSource source, SettableClock clock, History history) {
    this.owner = owner;
    this.random = random;
    this.source = source;
    this.clock = clock;
    this.history = history;
  }

  /** Returns how many messages this owner completed or dead-lettered. */
  int finished() {
    return finished;
  }

  List<Violation> violations() {
    return violations;
  }

  void step() {
    try {
      if (!stalled.isEmpty() && stalled.getFirst().until <= clock.nanoTime()) {
        wakeUpTooLate(stalled.removeFirst());
      } else if (held == null) {
        take();
      } else if (inWork != null) {
        end(held, inWork);
      } else if (!batch.isEmpty()) {
        begin(held, batch.removeFirst());
      } else {
        receive(held);
      }
    } catch (KeeperException e) {
      violations.add(new Violation("I2", owner + " was refused with " + e.getMessage()));
      forget();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("A simulation does not wait", e);
    }
  }

  private void take() throws InterruptedException {
    if (source.acceptNext(owner, Duration.ZERO) instanceof AcceptResult.Accepted accepted) {
      held = accepted.session();
    }
  }

  private void receive(HeldSession session) throws InterruptedException {
    try {
      batch.addAll(session.receive(random.nextInt(1, 6), Duration.ZERO));
    } catch (KeeperException.LockLost e) {
      lost(session);
      return;
    }
    if (batch.isEmpty()) {
      session.close();
      forget();
    }
  }

  /**
   * Asks the store first, because an operator may have taken the session away since the last call.
   */
  private void begin(HeldSession session, Delivery delivery) {
    if (!isStillHeld(session)) {
      lost(session);
      return;
    }
    history.started(session.id(), session.lease().epoch(), delivery);
    inWork = delivery;
  }

  private void end(HeldSession session, Delivery delivery) {
    int dice = random.nextInt(1000);
    if (dice < 20) {
      undone(session, delivery);
      history.lost(session.id(), session.lease().epoch());
      if (random.nextBoolean()) {
        stalled.add(
            new Stalled(session, delivery, clock.nanoTime() + Duration.ofSeconds(2).toNanos()));
      }
      forget(); // A crash or a long pause: the session is not released.
    } else if (dice < 50) {
      giveUp(session, delivery);
    } else {
      settle(session, delivery, settlementFor(dice));
    }
  }

  /** Ends without a settlement, and learns whether the lease was still held. */
  private void giveUp(HeldSession session, Delivery delivery) {
    undone(session, delivery);
    if (isStillHeld(session)) {
      session.close();
      forget();
    } else {
      lost(session);
    }
  }

  private static boolean isStillHeld(HeldSession session) {
    try {
      session.renew();
      return true;
    } catch (KeeperException.LockLost e) {
      return false;
    }
  }

  /** Ends the run: an owner that holds a session learns whether its lease is still valid. */
  void stop() {
    if (held != null && inWork != null) {
      giveUp(held, inWork);
    }
  }

  private Settlement settlementFor(int dice) {
    if (dice < 150) {
      return Settlement.retryAfter(Duration.ofMillis(random.nextInt(40)), "by chance");
    }
    return dice < 180 ? Settlement.deadLetter("by chance") : Settlement.complete();
  }

  private void settle(HeldSession session, Delivery delivery, Settlement settlement) {
    long epoch = session.lease().epoch();
    history.ended(session.id(), epoch, delivery, settlement);
    inWork = null;
    if (!isTaken(session, delivery, settlement)) {
      lost(session);
      return;
    }
    history.settled(session.id(), epoch, delivery.id(), delivery.sequence(), settlement);
    if (History.isFinal(settlement)) {
      finished++;
    } else {
      batch.clear(); // Messages behind it are void.
    }
  }

  /** Returns whether the store applied the settlement; false if the lease is lost. */
  private static boolean isTaken(HeldSession session, Delivery delivery, Settlement settlement) {
    try {
      session
          .settle(List.of(new Settled(delivery.sequence(), settlement)))
          .toCompletableFuture()
          .join();
      return true;
    } catch (KeeperException.LockLost e) {
      return false;
    } catch (CompletionException e) {
      if (e.getCause() instanceof KeeperException.LockLost) {
        return false;
      }
      throw e.getCause() instanceof KeeperException known ? known : e;
    }
  }

  private void wakeUpTooLate(Stalled one) {
    if (isTaken(one.session, one.delivery, Settlement.complete())) {
      violations.add(
          new Violation(
              "I2", owner + " settled " + one.delivery.id() + " under an epoch that had expired"));
    }
    one.session.close();
  }

  private void undone(HeldSession session, Delivery delivery) {
    history.ended(
        session.id(), session.lease().epoch(), delivery, Settlement.retryAfter(Duration.ZERO));
  }

  private void lost(HeldSession session) {
    history.lost(session.id(), session.lease().epoch());
    session.close();
    forget();
  }

  private void forget() {
    held = null;
    inWork = null;
    batch.clear();
  }
}
