package dev.sessionkeeper.registry;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.store.GroupCalls;
import dev.sessionkeeper.store.Rhythm;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;

/**
 * Creates sessions in batches: requests that arrive while a batch is being stored share the next
 * statement and commit. A caller that is alone does not wait.
 *
 * <p>One batch at a time. The fixed cost of a batch equals that of about four sessions, so one
 * large batch is cheaper than two concurrent small ones.
 */
final class BatchPuts {
  private static final int MOST = 64;

  private final GroupCalls<Wish> group =
      new GroupCalls<>("put-sessions", MOST, Rhythm.atOnce(), this::decide);
  private final Function<List<SessionRequest>, List<Optional<RegisteredSession>>> together;

  /**
   * Creates the batcher.
   *
   * @param together answers each request of a batch, in order; empty if its key is taken
   */
  BatchPuts(Function<List<SessionRequest>, List<Optional<RegisteredSession>>> together) {
    this.together = together;
  }

  /** Reports that another open transaction has inserted a session for one of the keys. */
  static final class HeldUp extends RuntimeException {
    private static final long serialVersionUID = 1L;

    HeldUp(Throwable cause) {
      super("A key is being taken by another transaction", cause);
    }
  }

  private record Wish(
      SessionRequest request, CompletableFuture<Optional<RegisteredSession>> answer) {}

  /** Returns the session that began; empty if the key is taken, or may be. */
  Optional<RegisteredSession> begin(SessionRequest request) {
    var wish = new Wish(request, new CompletableFuture<>());
    group.add(wish);
    try {
      return wish.answer().join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      throw e;
    }
  }

  private void decide(List<Wish> wishes) {
    try {
      var begun = together.apply(wishes.stream().map(Wish::request).toList());
      for (int i = 0; i < wishes.size(); i++) {
        wishes.get(i).answer().complete(begun.get(i));
      }
    } catch (KeeperException.Rejected | HeldUp e) {
      // One request may have caused the failure; alone, only that one fails or waits.
      wishes.forEach(wish -> wish.answer().complete(Optional.empty()));
    } catch (RuntimeException | Error e) {
      wishes.forEach(wish -> wish.answer().completeExceptionally(e));
    }
  }
}
