package dev.sessionkeeper.postgres.jdbc;

import dev.sessionkeeper.KeeperException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Waits for answers of grouped calls. */
public final class Futures {
  private Futures() {}

  /** The answer, or the error that it is. */
  public static <T> T join(CompletableFuture<T> answer) {
    try {
      return answer.join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof KeeperException known ? known : e;
    }
  }

  /** Waits for the end, however it is; who asked for it was told. */
  public static void quietly(CompletableFuture<?> answer) {
    if (!answer.isDone() || answer.isCompletedExceptionally()) {
      answer.handle((done, error) -> true).join();
    }
  }
}
