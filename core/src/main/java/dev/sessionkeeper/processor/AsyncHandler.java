package dev.sessionkeeper.processor;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Settlement;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;

/** Application code that answers later. The next message of the session waits for the answer. */
@FunctionalInterface
public interface AsyncHandler {

  /** Begins to handle one message; the stage ends with its settlement, or fails. */
  CompletionStage<Settlement> handle(Delivery delivery, SessionContext session) throws Exception;

  /**
   * The handler for a processor. It waits for the stage on the virtual thread of its session. When
   * the lease is lost, or a drain ends, it cancels the stage.
   */
  static MessageHandler waiting(AsyncHandler handler) {
    return (delivery, session) -> {
      var answer = handler.handle(delivery, session).toCompletableFuture();
      try {
        return answer.get();
      } catch (InterruptedException e) {
        answer.cancel(true);
        throw e;
      } catch (ExecutionException e) {
        throw e.getCause() instanceof Exception cause ? cause : e;
      } catch (CancellationException e) {
        throw new IllegalStateException("The handler's stage was cancelled", e);
      }
    };
  }
}
