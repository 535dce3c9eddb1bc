package dev.sessionkeeper.spring;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.processor.SessionProcessor;

/** A listener as operators see it: its state, and what can be done to it. */
public interface RunningListener {

  /** The id of the annotation, or bean and method. */
  String id();

  QueueName queue();

  /** Where the listener's processor stands. */
  SessionProcessor.State state();

  /**
   * Returns whether the listener ended although the application runs: its poison policy stopped it.
   */
  boolean isStoppedByPoison();

  /** Sessions in hand now. */
  int activeSessions();

  /** The most sessions in hand at once. */
  int concurrency();

  /** Takes no new session until it is resumed, and starts a stopped listener no more. */
  void pause();

  /** Takes sessions again; starts a listener that did not start with the application. */
  void resume();

  /** Changes how many sessions are in hand at once. */
  void changeConcurrency(int sessions);
}
