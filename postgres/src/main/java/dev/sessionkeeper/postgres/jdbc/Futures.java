package dev.sessionkeeper.postgres.jdbc;

import dev.sessionkeeper.KeeperException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Waits for answers of batched calls. */
public final class Futures {
  private Futures() {}

  /** Returns the answer, or throws the error. */
  public static <T> T join(CompletableFuture<T> answer) {
    try {
      return answer.join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof KeeperException known ? known : e;
    }
  }

  /** Waits for the end, whether or not the call failed: its caller gets the error. */
  public static void quietly(CompletableFuture<?> answer) {
    if (!answer.isDone() || answer.isCompletedExceptionally()) {
      answer.handle((done, error) -> true).join();
    }
  }
}
