package dev.sessionkeeper.processor;

import dev.sessionkeeper.spi.DeadLetter;

/** Application code that decides about dead letters. */
@FunctionalInterface
public interface DeadLetterHandler {

  /** Decides about one dead letter. When the handler throws, it is shown the dead letter again. */
  Decision handle(DeadLetter letter) throws Exception;

  /** The handler's decision about a dead letter. */
  enum Decision {
    /**
     * Put the dead letter back into its queue, before newer messages of its session where possible.
     */
    REPLAY,
    /** Delete the dead letter for good. */
    DISCARD,
    /** Keep the dead letter. This process shows it again only after a replay and a new failure. */
    KEEP
  }
}
