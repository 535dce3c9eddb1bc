package dev.sessionkeeper.processor;

import dev.sessionkeeper.spi.DeadLetter;

/** Application code that decides about dead letters. */
@FunctionalInterface
public interface DeadLetterHandler {

  /** Decides about one dead letter. When the handler throws, it is shown the dead letter again. */
  Decision handle(DeadLetter letter) throws Exception;

  /** The handler's decision about a dead letter. */
  enum Decision {
    /** It goes back into its queue, before newer messages of its session where possible. */
    REPLAY,
    /** It is forgotten for good. */
    DISCARD,
    /** It stays; this process does not show it again until it was replayed. */
    KEEP
  }
}
