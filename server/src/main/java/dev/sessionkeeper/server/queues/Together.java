package dev.sessionkeeper.server.queues;

import io.opentelemetry.context.Context;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;

/**
 * Runs the same call for several sessions concurrently, so that the store batches their statements.
 * Results are in the order of the items.
 */
final class Together {
  private Together() {}

  /**
   * Maps all items, each on its own virtual thread; returns when the last one is done.
   *
   * @throws RuntimeException the first failure, after all others have ended
   */
  static <T, R> List<R> map(List<T> items, Function<T, R> task) {
    if (items.size() == 1) {
      return List.of(task.apply(items.getFirst()));
    }
    var context = Context.current();
    var results =
        items.stream()
            .map(
                item -> {
                  var result = new CompletableFuture<R>();
                  Thread.startVirtualThread(
                      context.wrap(() -> complete(result, () -> task.apply(item))));
                  return result;
                })
            .toList();
    var ended = CompletableFuture.allOf(results.toArray(CompletableFuture[]::new));
    try {
      ended.join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException failure ? failure : e;
    }
    return results.stream().map(CompletableFuture::join).toList();
  }

  private static <R> void complete(
      CompletableFuture<R> result, java.util.function.Supplier<R> task) {
    try {
      result.complete(task.get());
    } catch (Throwable e) {
      result.completeExceptionally(e);
    }
  }
}
