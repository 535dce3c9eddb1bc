package dev.sessionkeeper.processor;

import dev.sessionkeeper.Codec;
import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Settlement;

/** Application code that takes the body of a message as a typed value. */
@FunctionalInterface
public interface TypedHandler<T> {

  /** Handles one message, as {@link MessageHandler#handle} does. */
  Settlement handle(T value, Delivery delivery, SessionContext session) throws Exception;

  /**
   * Returns a handler for a processor that decodes each body. A message whose body the codec
   * refuses becomes a dead letter at once, with the reason {@code unreadable body}.
   */
  static <T> MessageHandler reading(Codec<? extends T> codec, TypedHandler<? super T> handler) {
    return (delivery, session) -> {
      T value;
      try {
        value = codec.decode(delivery.payload());
      } catch (KeeperException.Rejected e) {
        return Settlement.deadLetter(UnreadableBody.REASON, String.valueOf(e.getMessage()));
      }
      return handler.handle(value, delivery, session);
    };
  }
}

/** The reason of dead letters that no codec can read. */
final class UnreadableBody {
  static final String REASON = "unreadable body";

  private UnreadableBody() {}
}
