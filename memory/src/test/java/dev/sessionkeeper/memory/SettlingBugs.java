package dev.sessionkeeper.memory;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.HeldSession;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

/** Planted bugs of settling and of state: S-03, S-03a, S-04, S-06, S-09. */
final class SettlingBugs {
  private SettlingBugs() {}

  static List<PlantedBug> all() {
    return List.of(
        HoldingBugs.session("S-03", "the message in hand is handed out again", HandsOutAgain::new),
        HoldingBugs.session("S-03a", "out of order is taken for done", TakesAnyOrder::new),
        HoldingBugs.session("S-03a", "a list is applied in part", AppliesInPart::new),
        HoldingBugs.session("S-04", "a retried message goes to the tail", RetriesAtTheTail::new),
        HoldingBugs.session("S-04", "batch-mates of a failed message go on", BatchMatesGoOn::new),
        HoldingBugs.session("S-04", "the retry has no delay", RetriesAtOnce::new),
        HoldingBugs.session("S-06", "attempts have no limit", TriesForEver::new),
        HoldingBugs.session("S-06", "the poison policy is always to set aside", AlwaysKills::new),
        HoldingBugs.session("S-06", "a postponement uses up an attempt", CountsPostponed::new),
        HoldingBugs.session("S-09", "a stale version is written", WritesStale::new),
        HoldingBugs.session("S-09", "state is written although the settlement fails", Torn::new));
  }

  private static final class HandsOutAgain extends BreakableSession {
    private final List<Delivery> inHand = new ArrayList<>();

    HandsOutAgain(HeldSession inner) {
      super(inner);
    }

    @Override
    public List<Delivery> receive(int max, Duration wait) throws InterruptedException {
      if (inHand.isEmpty()) {
        inHand.addAll(super.receive(max, wait));
      }
      return List.copyOf(inHand);
    }

    @Override
    public CompletionStage<Void> settle(List<Settled> settlements) {
      inHand.clear();
      return super.settle(settlements);
    }
  }

  private static final class TakesAnyOrder extends BreakableSession {
    TakesAnyOrder(HeldSession inner) {
      super(inner);
    }

    @Override
    public CompletionStage<Void> settle(List<Settled> settlements) {
      return super.settle(settlements)
          .exceptionally(
              failure -> {
                if (failure instanceof KeeperException.OutOfOrder) {
                  return null;
                }
                throw new CompletionException(failure);
              });
    }
  }

  private static final class AppliesInPart extends BreakableSession {
    AppliesInPart(HeldSession inner) {
      super(inner);
    }

    @Override
    public CompletionStage<Void> settle(List<Settled> settlements) {
      for (var one : settlements) {
        var stage = super.settle(List.of(one));
        if (stage.toCompletableFuture().isCompletedExceptionally()) {
          return stage;
        }
      }
      return CompletableFuture.completedFuture(null);
    }
  }

  /** Remembers deliveries, to misuse them later. */
  private static class Remembering extends BreakableSession {
    final Map<Long, Delivery> deliveries = new HashMap<>();

    Remembering(HeldSession inner) {
      super(inner);
    }

    @Override
    public List<Delivery> receive(int max, Duration wait) throws InterruptedException {
      var batch = super.receive(max, wait);
      batch.forEach(delivery -> deliveries.put(delivery.sequence(), delivery));
      return batch;
    }
  }

  private static final class RetriesAtTheTail extends Remembering {
    private final HoldingBugs.InQueue in;

    RetriesAtTheTail(HoldingBugs.InQueue in, HeldSession inner) {
      super(inner);
      this.in = in;
    }

    @Override
    public CompletionStage<Void> settle(List<Settled> settlements) {
      var last = settlements.getLast();
      var delivery = deliveries.get(last.sequence());
      if (delivery == null || !(last.settlement() instanceof Settlement.Retry)) {
        return super.settle(settlements);
      }
      in.provider().send(in.queue(), List.of(delivery.message().withId(MessageId.random())));
      var changed = new ArrayList<>(settlements);
      changed.set(changed.size() - 1, new Settled(last.sequence(), Settlement.complete()));
      return super.settle(changed);
    }
  }

  private static final class BatchMatesGoOn extends BreakableSession {
    private final List<Settled> postponed = new ArrayList<>();

    BatchMatesGoOn(HeldSession inner) {
      super(inner);
    }

    @Override
    public CompletionStage<Void> settle(List<Settled> settlements) {
      // The bug: messages behind the retried one are handled first.
      if (settlements.getFirst().settlement() instanceof Settlement.Retry) {
        postponed.addAll(settlements);
        return CompletableFuture.completedFuture(null);
      }
      return postponed.isEmpty()
          ? super.settle(settlements)
          : CompletableFuture.completedFuture(null);
    }

    @Override
    public void close() {
      if (!postponed.isEmpty()) {
        super.settle(postponed).toCompletableFuture().join();
      }
      super.close();
    }
  }

  private static final class RetriesAtOnce extends Remembering {
    RetriesAtOnce(HeldSession inner) {
      super(inner);
    }

    @Override
    public CompletionStage<Void> settle(List<Settled> settlements) {
      return super.settle(
          settlements.stream()
              .map(
                  one ->
                      one.settlement() instanceof Settlement.Retry retry
                          ? new Settled(
                              one.sequence(),
                              new Settlement.Retry(
                                  Duration.ZERO, retry.limited(), retry.counted(), retry.reason()))
                          : one)
              .toList());
    }
  }

  private static final class TriesForEver extends BreakableSession {
    TriesForEver(HeldSession inner) {
      super(inner);
    }

    @Override
    public CompletionStage<Void> settle(List<Settled> settlements) {
      return super.settle(
          settlements.stream()
              .map(
                  one ->
                      one.settlement() instanceof Settlement.Retry retry
                          ? new Settled(
                              one.sequence(),
                              Settlement.keepRetrying(retry.delay(), retry.reason()))
                          : one)
              .toList());
    }
  }

  private static final class CountsPostponed extends BreakableSession {
    CountsPostponed(HeldSession inner) {
      super(inner);
    }

    @Override
    public CompletionStage<Void> settle(List<Settled> settlements) {
      return super.settle(
          settlements.stream()
              .map(
                  one ->
                      one.settlement() instanceof Settlement.Retry retry && !retry.counted()
                          ? new Settled(
                              one.sequence(),
                              Settlement.keepRetrying(retry.delay(), retry.reason()))
                          : one)
              .toList());
    }
  }

  private static final class AlwaysKills extends Remembering {
    private final HoldingBugs.InQueue in;

    AlwaysKills(HoldingBugs.InQueue in, HeldSession inner) {
      super(inner);
      this.in = in;
    }

    @Override
    public CompletionStage<Void> settle(List<Settled> settlements) {
      int most = in.provider().settings(in.queue()).orElseThrow().maxDeliveryCount();
      return super.settle(
          settlements.stream().map(one -> isLastAttempt(one, most) ? killed(one) : one).toList());
    }

    private boolean isLastAttempt(Settled one, int most) {
      var delivery = deliveries.get(one.sequence());
      return one.settlement() instanceof Settlement.Retry
          && delivery != null
          && delivery.attempt() >= most;
    }

    private static Settled killed(Settled one) {
      return new Settled(one.sequence(), Settlement.deadLetter("too often"));
    }
  }

  private static final class WritesStale extends BreakableSession {
    WritesStale(HeldSession inner) {
      super(inner);
    }

    @Override
    public SessionState writeState(SessionState.Write write) {
      return super.writeState(new SessionState.Write(write.bytes(), SessionState.ANY_VERSION));
    }
  }

  private static final class Torn extends BreakableSession {
    Torn(HeldSession inner) {
      super(inner);
    }

    @Override
    public CompletionStage<Void> settle(List<Settled> settlements, SessionState.Write state) {
      try {
        super.writeState(state);
      } catch (KeeperException e) {
        return CompletableFuture.failedFuture(e);
      }
      return super.settle(settlements);
    }
  }
}
