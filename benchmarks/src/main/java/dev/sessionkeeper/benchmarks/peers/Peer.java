package dev.sessionkeeper.benchmarks.peers;

import java.time.Duration;
import java.util.Optional;

/** One system of the side-by-side run. Every call starts a fresh engine and ends it. */
interface Peer {
  String name();

  /**
   * Returns the goal: how many times as fast the product should drain; 0 for the product itself.
   */
  double goal();

  /** Returns why it cannot run here, if so. */
  Optional<String> missing();

  /** Returns whether its process lasts, so that later turns are warmer. */
  boolean warmsUp();

  /** Stores the backlog, then lets it be handled. */
  Drained drain(Backlog backlog) throws Exception;

  /** Sends at a fixed rate while messages are handled. */
  Delays delays(Pace pace) throws Exception;

  /**
   * The messages to store and handle.
   *
   * @param cap the longest time to store them, and the longest to handle them
   */
  record Backlog(int messages, int keys, Duration cap) {}

  /** The rate of sends, and its duration; the first half is warm-up. */
  record Pace(double perSecond, int keys, Duration window) {}

  /**
   * The result of a backlog.
   *
   * @param startSeconds from the start of the consumers to the first message
   * @param drainSeconds from the start of the consumers; for peers on Node from the first message,
   *     because they load their code before that
   * @param cpuSeconds of client and engine while messages were handled
   * @param violations messages that were not the next one of their producer and key
   */
  record Drained(
      long sent,
      double fillSeconds,
      long handled,
      double startSeconds,
      double drainSeconds,
      double cpuSeconds,
      long violations) {

    double sentPerSecond() {
      return sent / fillSeconds;
    }

    double handledPerSecond() {
      return handled / drainSeconds;
    }

    double cpuMicros() {
      return cpuSeconds * 1e6 / handled;
    }

    boolean isComplete() {
      return handled == sent;
    }
  }

  /**
   * Delays from send to handler.
   *
   * @param reached messages handled per second
   */
  record Delays(double reached, double p50Millis, double p99Millis, long violations) {}
}
