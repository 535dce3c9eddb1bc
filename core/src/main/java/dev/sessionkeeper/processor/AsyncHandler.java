package dev.sessionkeeper.processor;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Settlement;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;

/**
 * Application code that returns a stage. The next message of the session waits until the stage
 * completes.
 */
@FunctionalInterface
public interface AsyncHandler {

  /** Starts to handle one message. The stage completes with the settlement, or fails. */
  CompletionStage<Settlement> handle(Delivery delivery, SessionContext session) throws Exception;

  /**
   * Returns a blocking handler that waits for the stage on the thread of its session. When the
   * lease is lost or a drain times out, the handler cancels the stage.
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
