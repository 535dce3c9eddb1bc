package dev.sessionkeeper.spring;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.processor.SessionProcessor;

/** A listener of the application: its state, and how operators change it. */
public interface RunningListener {

  /** Returns the id of the annotation, by default bean and method. */
  String id();

  QueueName queue();

  /** Returns the state of the listener's processor. */
  SessionProcessor.State state();

  /** Returns whether the poison policy {@code STOP} has stopped the listener. */
  boolean isStoppedByPoison();

  /** Returns how many sessions the listener holds now. */
  int activeSessions();

  /** Returns how many sessions the listener holds at most. */
  int concurrency();

  /**
   * Accepts no new session until {@link #resume()}.
   *
   * @throws IllegalStateException if the listener does not run
   */
  void pause();

  /** Accepts sessions again. Also starts a listener that was stopped or has not started yet. */
  void resume();

  /** Changes how many sessions the listener holds at most. */
  void changeConcurrency(int sessions);
}
