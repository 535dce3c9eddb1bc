package dev.sessionkeeper.server.streams;

import dev.sessionkeeper.coalescing.Outcome;
import dev.sessionkeeper.cursors.CursorKey;
import dev.sessionkeeper.server.http.Problem;
import dev.sessionkeeper.server.http.ProblemException;
import dev.sessionkeeper.server.http.ProblemType;

/** Moves the position of a subscriber, and returns when the new position is durable. */
record Acknowledge(Streams streams) {

  /**
   * Acknowledges all events up to this one. An older event changes nothing.
   *
   * @throws ProblemException 503 if the store did not save the position; acknowledge again
   */
  void upTo(CursorKey key, long event) {
    long last = streams.log().bounds(key.stream()).last();
    if (event > last) {
      throw Problem.invalid("lastEventId", "is behind the last event of the stream, " + last)
          .toException();
    }
    save(key, event);
  }

  /** Saves the first position of a new subscriber, unless a later one is stored. */
  void begin(CursorKey key, long position) {
    save(key, position);
  }

  private void save(CursorKey key, long position) {
    switch (streams.cursors().acknowledge(key, position).toCompletableFuture().join()) {
      case Outcome.Durable d -> {}
      case Outcome.Superseded s -> {}
      case Outcome.Rejected refused ->
          throw ProblemType.OVERLOADED
              .with("The position was not saved (" + refused.why() + "); acknowledge again")
              .toException();
      case Outcome.NotFound n -> throw notSaved(key, "its row is gone");
      case Outcome.Dead dead -> throw notSaved(key, dead.cause());
      case Outcome.Undrained u -> throw notSaved(key, "the server ends");
    }
  }

  private static ProblemException notSaved(CursorKey key, String why) {
    return ProblemType.UNAVAILABLE
        .with("The position of %s was not saved: %s".formatted(key.subscriber(), why))
        .toException();
  }
}
