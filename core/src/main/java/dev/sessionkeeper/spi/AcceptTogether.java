package dev.sessionkeeper.spi;

import dev.sessionkeeper.Owner;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.IntStream;

/**
 * Accepts several sessions with as many concurrent calls, for stores that answer such calls in one
 * batch.
 */
final class AcceptTogether {
  private AcceptTogether() {}

  /** Accepts sessions as {@link SessionSource#acceptUpTo} does. */
  static List<HeldSession> accept(SessionSource source, Owner owner, int most, Duration wait)
      throws InterruptedException {
    var ready = acceptReady(source, owner, most);
    if (!ready.isEmpty() || wait.isZero()) {
      return ready;
    }
    if (!(source.acceptNext(owner, wait) instanceof AcceptResult.Accepted first)) {
      return List.of();
    }
    var held = new ArrayList<HeldSession>();
    held.add(first.session());
    if (most > 1 && source.hasReadySession()) {
      held.addAll(acceptReady(source, owner, most - 1));
    }
    return held;
  }

  private static List<HeldSession> acceptReady(SessionSource source, Owner owner, int most) {
    var calls =
        IntStream.range(0, most)
            .mapToObj(
                i -> {
                  var result = new CompletableFuture<AcceptResult>();
                  Thread.startVirtualThread(() -> acceptNow(source, owner, result));
                  return result;
                })
            .toList();
    var held = new ArrayList<HeldSession>();
    RuntimeException failure = null;
    for (var call : calls) {
      try {
        if (call.join() instanceof AcceptResult.Accepted accepted) {
          held.add(accepted.session());
        }
      } catch (CompletionException e) {
        failure = e.getCause() instanceof RuntimeException cause ? cause : e;
      }
    }
    if (held.isEmpty() && failure != null) {
      throw failure;
    }
    return held;
  }

  private static void acceptNow(
      SessionSource source, Owner owner, CompletableFuture<AcceptResult> result) {
    try {
      result.complete(source.acceptNext(owner, Duration.ZERO));
    } catch (Throwable e) {
      result.completeExceptionally(e);
    }
  }
}
