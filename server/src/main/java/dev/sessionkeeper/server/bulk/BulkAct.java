package dev.sessionkeeper.server.bulk;

import dev.sessionkeeper.spi.OperableSessions.Act;
import java.util.Optional;

/** An act on many sessions, dead letters or events at once. */
enum BulkAct {
  PAUSE("pause", Act.PAUSE),
  RESUME("resume", Act.RESUME),
  PARK("park", Act.PARK),
  RELEASE("release", Act.RELEASE),
  DEAD_LETTER_ALL("deadLetterAll", Act.DEAD_LETTER_ALL),
  REPLAY("replay"),
  DISCARD("discard"),
  REPLAY_EVENTS("replayEvents");

  private final String word;
  private final Optional<Act> act;

  BulkAct(String word, Act act) {
    this.word = word;
    this.act = Optional.of(act);
  }

  BulkAct(String word) {
    this.word = word;
    this.act = Optional.empty();
  }

  /** Returns the act on one session; empty for acts on dead letters and events. */
  Optional<Act> onSession() {
    return act;
  }

  /** Returns whether the act is on events, which belong to the queues of several bots. */
  boolean isOnEvents() {
    return this == REPLAY_EVENTS;
  }

  @Override
  public String toString() {
    return word;
  }
}
