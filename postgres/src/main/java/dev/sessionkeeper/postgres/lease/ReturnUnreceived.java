package dev.sessionkeeper.postgres.lease;

import dev.sessionkeeper.postgres.jdbc.SqlArray;
import dev.sessionkeeper.postgres.queue.QueueContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * Tells the database about messages that came with a claim but that no handler received in time. At
 * the end of the lease they would count as attempts. Runs only while sessions are held.
 */
public final class ReturnUnreceived {
  private static final String NOT_OPEN = "SELECT keeper.not_in_hand(?, ?, ?)";
  private static final Duration LOOK_EVERY = Duration.ofMillis(150);

  private final QueueContext queue;
  private final Supplier<List<Hold>> held;
  private final Runnable beforeLook;
  private final AtomicBoolean isScheduled = new AtomicBoolean();

  ReturnUnreceived(QueueContext queue, Supplier<List<Hold>> held, Runnable beforeLook) {
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
    var dropped = new ArrayList<Hold>();
    for (var hold : held.get()) {
      if (hold.dropUnreceived(now, said)) {
        dropped.add(hold);
      }
    }
    if (!dropped.isEmpty()) {
      // Not on the timer's thread, which other timers share.
      dropped.sort(Comparator.comparing(Hold::id));
      var unused = Thread.ofVirtual().name("keeper-drop").start(() -> say(dropped, said));
    }
  }

  private void say(List<Hold> holds, CompletableFuture<Void> said) {
    try {
      queue
          .connections()
          .call(
              connection -> {
                try (var statement = connection.prepareStatement(NOT_OPEN)) {
                  statement.setInt(1, queue.id());
                  statement.setArray(
                      2,
                      SqlArray.of(
                          connection,
                          "text",
                          holds.stream().map(hold -> hold.id().value()).toArray(String[]::new)));
                  statement.setArray(
                      3,
                      SqlArray.of(
                          connection,
                          "int8",
                          holds.stream().mapToLong(hold -> hold.epoch).toArray()));
                  return statement.execute();
                }
              });
      said.complete(null);
    } catch (RuntimeException e) {
      said.completeExceptionally(e);
    }
  }
}
