package dev.sessionkeeper.postgres;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * Looks after sessions whose first messages came with the claim but were never received: if the
 * lease ran out, they would count as tried. Runs only while something is held.
 */
final class DropUnreceived {
  private static final String NOT_IN_HAND = "SELECT keeper.not_in_hand(?, ?, ?)";
  private static final Duration LOOK_EVERY = Duration.ofMillis(150);

  private final QueueContext queue;
  private final Supplier<Collection<HeldLane>> held;
  private final Runnable beforeLook;
  private final AtomicBoolean isScheduled = new AtomicBoolean();

  DropUnreceived(
      QueueContext queue, Supplier<Collection<HeldLane>> held, Runnable beforeLook) {
    this.queue = queue;
    this.held = held;
    this.beforeLook = beforeLook;
  }

  void start() {
    if (isScheduled.compareAndSet(false, true)) {
      var unused = queue.time().schedule(LOOK_EVERY, this::look);
    }
  }

  private void look() {
    isScheduled.set(false);
    if (held.get().isEmpty()) {
      return;
    }
    start();
    beforeLook.run();
    long now = queue.time().nanoTime();
    var said = new CompletableFuture<Void>();
    var dropped = new ArrayList<HeldLane>();
    for (var lane : held.get()) {
      if (lane.dropUnreceived(now, said)) {
        dropped.add(lane);
      }
    }
    if (!dropped.isEmpty()) {
      // Not on the timer's thread, which is everybody's.
      dropped.sort(Comparator.comparing(HeldLane::id));
      var unused = Thread.ofVirtual().name("keeper-drop").start(() -> say(dropped, said));
    }
  }

  private void say(List<HeldLane> lanes, CompletableFuture<Void> said) {
    try {
      queue
          .connections()
          .call(
              connection -> {
                try (var statement = connection.prepareStatement(NOT_IN_HAND)) {
                  statement.setInt(1, queue.id());
                  statement.setArray(
                      2,
                      SqlArray.of(
                          connection,
                          "text",
                          lanes.stream().map(lane -> lane.id().value()).toArray(String[]::new)));
                  statement.setArray(
                      3,
                      SqlArray.of(
                          connection, "int8", lanes.stream().mapToLong(HeldLane::epoch).toArray()));
                  return statement.execute();
                }
              });
      said.complete(null);
    } catch (RuntimeException e) {
      said.completeExceptionally(e);
    }
  }
}
