package dev.sessionkeeper.simulator;

import dev.sessionkeeper.KeeperException;
import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The connection of one node to the store. Requests and answers are delayed and get lost. A request
 * takes effect in the store even if its node has died by then.
 */
final class Link {
  private static final Duration TIMEOUT = Duration.ofSeconds(1);

  private final World world;
  private final World.Machine node;
  private final Store store;
  private final Set<Bug> bugs;
  boolean isCut;
  int slowness = 1;

  Link(World world, World.Machine node, Store store, Set<Bug> bugs) {
    this.world = world;
    this.node = node;
    this.store = store;
    this.bugs = bugs;
  }

  /** A request in flight. */
  final class Call<T> {
    private final String what;
    private @Nullable T value;
    private @Nullable KeeperException refusal;
    private boolean isAnswered;
    private boolean tookEffect;
    private final CompletableFuture<T> answer = new CompletableFuture<>();

    Call(String what) {
      this.what = what;
    }

    boolean tookEffect() {
      return tookEffect;
    }

    CompletableFuture<T> answer() {
      return answer;
    }

    private void execute(Supplier<T> statement) {
      if (store.isDown() || isCut) {
        return;
      }
      if (store.isLockedByOther(node)) {
        world.after(Duration.ofMillis(50), store.machine(), () -> execute(statement));
        return;
      }
      boolean locks = bugs.contains(Bug.LOCK_UNTIL_ANSWER_IS_READ);
      if (locks) {
        store.lockFor(node);
      }
      try {
        value = statement.get();
        tookEffect = true;
        world.note(node.name, what + " -> " + value);
      } catch (KeeperException e) {
        refusal = e;
        world.note(node.name, what + " -> " + e.getMessage());
      }
      if (chance(store.lostAnswers())) {
        world.note(node.name, what + ": the answer is lost");
        if (locks) {
          store.unlock(node);
        }
        return;
      }
      world.after(delay(), node, this::deliver);
    }

    private void deliver() {
      store.unlock(node);
      if (isCut) {
        return;
      }
      isAnswered = true;
      if (refusal != null) {
        answer.completeExceptionally(refusal);
      } else {
        answer.complete(value);
      }
    }

    /** Returns the failure of a call without an answer, whose outcome is unknown. */
    private RuntimeException unknown() {
      return bugs.contains(Bug.UNTRUE_ANSWER)
          ? new KeeperException.Unavailable("The store")
          : new KeeperException.OutcomeUnknown("A call", new IOException("no answer in time"));
    }
  }

  private boolean chance(int perThousand) {
    return world.choices().nextInt(1000) < perThousand;
  }

  Duration delay() {
    long micros = 100L + world.choices().nextInt(1500);
    if (world.choices().nextInt(60) == 0) {
      micros += world.choices().nextInt(400_000);
    }
    return Duration.ofNanos(micros * 1000 * slowness);
  }

  /** Sends a request without waiting for its answer. */
  <T> Call<T> send(String what, Duration delay, Supplier<T> statement) {
    var call = new Call<T>(what);
    if (chance(store.lostRequests())) {
      world.note(node.name, what + ": the request is lost");
    } else {
      world.after(delay, store.machine(), () -> call.execute(statement));
    }
    world.after(
        TIMEOUT,
        node,
        () -> {
          if (!call.isAnswered) {
            call.isAnswered = true;
            store.unlock(node);
            call.answer.completeExceptionally(call.unknown());
          }
        });
    return call;
  }

  /** Sends a request and waits for its answer, as a blocking driver does. */
  <T> T call(String what, Supplier<T> statement) {
    if (isCut && world.choices().nextBoolean()) {
      // The connection cannot be opened, so the request surely had no effect.
      world.await(() -> false, Duration.ofMillis(50));
      throw new KeeperException.Unavailable("The store");
    }
    var call = send(what, delay(), statement);
    world.await(() -> call.isAnswered, TIMEOUT.multipliedBy(2));
    var refusal = call.refusal;
    if (call.answer.isDone() && !call.answer.isCompletedExceptionally()) {
      return call.answer.join();
    }
    if (refusal != null && call.isAnswered && call.answer.isCompletedExceptionally()) {
      throw refusal;
    }
    var unknown = call.unknown();
    if (unknown instanceof KeeperException.Unavailable && call.tookEffect) {
      store
          .referee()
          .broken("I8", node.name + " was told that '" + what + "' did nothing, and it did");
    }
    throw unknown;
  }
}
