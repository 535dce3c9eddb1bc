package dev.sessionkeeper.processor;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.processor.SessionHooks.Phase;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.HeldSession.Settled;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * Serves one session from accept to release, on its slot's thread.
 *
 * <p>I1: message n+1 is handled after the settlement of n was sent, and settlements take effect in
 * order; after a settlement that fails or asks for a retry, no further message of the batch is
 * handled. I2: the open hook runs before the first message, the close hook once after the last. I3:
 * before the session is released, or together with the release, all settlements are durable or
 * known to have failed.
 */
final class ServeSession {
  /**
   * The slot waits for a retry that is due this soon. For a later one, serving another session is
   * worth more.
   */
  private static final Duration SHORT_RETRY = Duration.ofMillis(20);

  private final Setup setup;
  private final TimeSource time;
  private final Slot slot;
  private final SessionHold hold;
  private final HeldSession session;
  private final CallHandler handler;
  private final CallHooks hooks;
  private final HeldContext context;
  private final LoseLease losses;
  private final WaitForMessages messages;
  // Most holds never need it, because their settlements are durable when the call returns.
  private @Nullable SettleInFlight settling;
  private long startedAt;
  private long endsAt;
  private long now;
  private int handled;
  private long lastSequence = Long.MIN_VALUE;
  private boolean isDisturbed;

  ServeSession(
      Setup setup,
      Slot slot,
      SessionHold hold,
      CallHandler handler,
      CallHooks hooks,
      LoseLease losses,
      WaitForMessages messages) {
    this.setup = setup;
    this.time = setup.time();
    this.slot = slot;
    this.hold = hold;
    this.session = hold.session;
    this.handler = handler;
    this.hooks = hooks;
    this.context = new HeldContext(hold, losses);
    this.losses = losses;
    this.messages = messages;
  }

  /** Returns whether the hold ended without a failure. After a failure, the slot pauses. */
  boolean run() {
    var reason = hooks.areHeard() ? serveWithHooks() : serveFromFirst();
    if (session.closesBehindSettlements() && !hooks.areHeard()) {
      giveBack();
      awaitSettlements();
      asItIsNow(reason);
    } else {
      awaitSettlements();
      reason = asItIsNow(reason);
      hooks.closed(context, hold, reason, handled, startedAt);
      giveBack();
    }
    return !isDisturbed;
  }

  private CloseReason serveWithHooks() {
    begin();
    if (!hooks.opened(context, hold)) {
      isDisturbed = true;
      return CloseReason.ERROR;
    }
    now = hooks.areSet() ? time.nanoTime() : now;
    return serve();
  }

  /** Skips the second reading of the clock if no hook runs between accept and first message. */
  private CloseReason serveFromFirst() {
    var first = messages.now(slot, hold, most());
    begin();
    var ending = ending();
    if (ending.isEmpty() && first.isPresent()) {
      ending = serve(first.get());
    }
    return ending.isPresent() ? ending.get() : serve();
  }

  private void begin() {
    startedAt = time.nanoTime();
    endsAt = startedAt + setup.longestHold();
    now = startedAt;
  }

  private CloseReason serve() {
    while (true) {
      var ending = ending();
      if (ending.isPresent()) {
        return ending.get();
      }
      var next = messages.next(slot, hold, most(), now, endsAt);
      now = next instanceof WaitForMessages.Come ? time.nanoTime() : now;
      ending = serve(next);
      if (ending.isPresent()) {
        return ending.get();
      }
    }
  }

  private int most() {
    return Math.min(setup.options().prefetch(), quantumLeft());
  }

  private Optional<CloseReason> serve(WaitForMessages.Next next) {
    return switch (next) {
      case WaitForMessages.Come come -> serve(come.batch());
      case WaitForMessages.Over over -> Optional.of(over.reason());
      case WaitForMessages.Failed failed -> {
        isDisturbed = true;
        yield Optional.of(CloseReason.ERROR);
      }
    };
  }

  private Optional<CloseReason> serve(List<Delivery> batch) {
    return setup.batches().isEmpty()
        ? serveEach(batch)
        : serveTogether(batch, setup.batches().get());
  }

  private Optional<CloseReason> serveEach(List<Delivery> batch) {
    for (var delivery : batch) {
      var ending = ending();
      if (ending.isPresent()) {
        return ending;
      }
      checkOrder(delivery);
      var settlement = handler.handle(delivery, context, hold, now);
      now = time.nanoTime();
      if (!hold.isHeld() || hold.isCutShort()) {
        return ending();
      }
      handled++;
      var sent = settle(delivery, settlement);
      if (endsBatch(sent)) {
        return afterLast(sent);
      }
    }
    return Optional.empty();
  }

  /** Serves messages as {@link #serveEach} does, with several messages per call of the handler. */
  private Optional<CloseReason> serveTogether(List<Delivery> batch, CallBatchHandler batches) {
    for (int from = 0; from < batch.size(); ) {
      var ending = ending();
      if (ending.isPresent()) {
        return ending;
      }
      var waiting = batch.subList(from, batch.size());
      int size = batches.nextSize(hold.id(), waiting);
      if (size == 1) {
        var reason = serveEach(waiting.subList(0, 1));
        // A retry resets the last sequence: messages received behind the retried one are void.
        if (reason.isPresent() || lastSequence == Long.MIN_VALUE) {
          return reason;
        }
        from++;
        continue;
      }
      var part = waiting.subList(0, size);
      part.forEach(this::checkOrder);
      var settled = batches.handle(part, handler, context, hold, now);
      now = time.nanoTime();
      if (!hold.isHeld() || hold.isCutShort()) {
        return ending();
      }
      handled += settled.size();
      from += settled.size();
      lastSequence = settled.get(settled.size() - 1).sequence();
      var sent = settleTogether(part.get(settled.size() - 1), settled);
      if (endsBatch(sent)) {
        return afterLast(sent);
      }
    }
    return Optional.empty();
  }

  private static boolean endsBatch(Settlement sent) {
    return sent instanceof Settlement.Retry || sent instanceof Settlement.Park;
  }

  private Optional<CloseReason> afterLast(Settlement sent) {
    return switch (sent) {
      // Later deliveries of this batch are void now, so the handler sees none of them (S-04).
      case Settlement.Retry retry -> afterRetry(retry.delay());
      case Settlement.Park park -> Optional.of(CloseReason.ERROR);
      case Settlement.Complete complete -> Optional.empty();
      case Settlement.DeadLetter dead -> Optional.empty();
    };
  }

  /** Returns why the hold takes no further message; empty while it may take one. */
  private Optional<CloseReason> ending() {
    if (hold.isCutShort() || hold.status() == Hold.Status.ABANDONED) {
      return Optional.of(CloseReason.SHUTDOWN);
    }
    if (!hold.isHeld() || messages.isPastDeadline(hold, now)) {
      return Optional.of(CloseReason.LOCK_LOST);
    }
    if (hasSettlingFailed()) {
      isDisturbed = true;
      return Optional.of(CloseReason.ERROR);
    }
    if (slot.isCalledAway()) {
      return Optional.of(slot.isRetiring() ? CloseReason.RELEASED : CloseReason.SHUTDOWN);
    }
    if (context.isReleased()) {
      return Optional.of(CloseReason.RELEASED);
    }
    if (quantumLeft() <= 0) {
      return Optional.of(CloseReason.QUANTUM);
    }
    if (hold.isPastRenewal() || now - endsAt >= 0) {
      return Optional.of(CloseReason.MAX_DURATION);
    }
    return Optional.empty();
  }

  private int quantumLeft() {
    return setup.options().maxMessagesPerHold() - handled;
  }

  private void checkOrder(Delivery delivery) {
    if (delivery.sequence() <= lastSequence) {
      setup
          .report()
          .tell(
              new ProcessorEvent.OrderViolated(
                  hold.id(), hold.epoch(), lastSequence, delivery.sequence()));
    }
    lastSequence = delivery.sequence();
  }

  /** Sends a settlement and returns the one that was sent. */
  private Settlement settle(Delivery delivery, Settlement settlement) {
    var write = context.takePendingWrite();
    if (write.isPresent()) {
      var settled = List.of(new Settled(delivery.sequence(), settlement));
      return settleWithState(delivery, settled, settlement, write.get());
    }
    send(delivery, settlement);
    return settlement;
  }

  /** Sends the settlements of a batch and returns the last one that was sent. */
  private Settlement settleTogether(Delivery last, List<Settled> settled) {
    var ending = settled.get(settled.size() - 1).settlement();
    var write = context.takePendingWrite();
    if (write.isPresent()) {
      return settleWithState(last, settled, ending, write.get());
    }
    send(settled);
    return ending;
  }

  private void send(Delivery delivery, Settlement settlement) {
    send(List.of(new Settled(delivery.sequence(), settlement)));
  }

  private void send(List<Settled> settled) {
    try {
      var future = session.settle(settled).toCompletableFuture();
      if (!future.isDone() || future.isCompletedExceptionally()) {
        settling().add(future);
      }
    } catch (RuntimeException e) {
      settling().fail(e);
    }
  }

  private SettleInFlight settling() {
    if (settling == null) {
      settling = new SettleInFlight(hold, setup, losses);
    }
    return settling;
  }

  private boolean hasSettlingFailed() {
    return settling != null && settling.hasFailed();
  }

  private void awaitSettlements() {
    if (settling != null) {
      settling.awaitAll();
    }
  }

  /**
   * Settles with a state write, and waits: if the state is stale, the message is not settled and
   * has failed.
   */
  private Settlement settleWithState(
      Delivery delivery, List<Settled> settled, Settlement settlement, SessionState.Write write) {
    awaitSettlements();
    try {
      session.settle(settled, write).toCompletableFuture().join();
      return settlement;
    } catch (CompletionException | KeeperException e) {
      var cause = e instanceof CompletionException && e.getCause() != null ? e.getCause() : e;
      if (cause instanceof KeeperException.StaleState) {
        var decided = handler.failed(delivery, hold, cause);
        send(delivery, decided);
        return decided;
      }
      settling().fail(cause);
      return settlement;
    }
  }

  private Optional<CloseReason> afterRetry(Duration delay) {
    lastSequence = Long.MIN_VALUE;
    // If it had failed, the message would still be open while the next ones are handled.
    awaitSettlements();
    if (delay.compareTo(SHORT_RETRY) > 0) {
      return Optional.of(CloseReason.ERROR);
    }
    slot.waitUnlessCalledAway(() -> Pause.sleep(time, delay));
    now = time.nanoTime();
    return Optional.empty();
  }

  /**
   * Returns LOCK_LOST if the lease was lost while settlements were in flight, otherwise the given
   * reason.
   */
  private CloseReason asItIsNow(CloseReason reason) {
    if (hold.status() == Hold.Status.LOST) {
      return CloseReason.LOCK_LOST;
    }
    if (hasSettlingFailed()) {
      isDisturbed = true;
      return CloseReason.ERROR;
    }
    return reason;
  }

  private void giveBack() {
    // The hold ends here, so a renewal that is refused later is no lost lease.
    hold.become(Hold.Status.ENDED);
    try {
      session.close();
    } catch (RuntimeException e) {
      isDisturbed = true;
      setup.report().failed(Phase.CLOSE, hold, e);
    }
  }
}
