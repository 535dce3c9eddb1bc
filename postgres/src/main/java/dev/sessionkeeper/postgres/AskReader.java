package dev.sessionkeeper.postgres;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/**
 * Asks the process that reads a session, which may be this one, for its lane. The reading goes on:
 * an ask costs that one session and one statement of the reader.
 */
final class AskReader {
  private static final long PATIENCE_NANOS = Duration.ofMinutes(2).toNanos();

  /** A reader that has not answered by then stands still, or cannot reach the database. */
  private static final long SILENCE_NANOS = Duration.ofSeconds(1).toNanos();

  private static final long LOOK_AGAIN_NANOS = Duration.ofMillis(20).toNanos();
  private static final long MOVING_NANOS = Duration.ofMillis(5).toNanos();

  private final QueueContext queue;
  private final ReadAlone reader;
  private final Polling polling;
  private final AskTable table;

  AskReader(QueueContext queue, ReadAlone reader, Polling polling) {
    this.queue = queue;
    this.reader = reader;
    this.polling = polling;
    this.table = new AskTable(queue);
  }

  /** How the sessions of a queue can be reached. */
  sealed interface Answer {
    /**
     * No process reads the queue alone: everything that was sent before has, or can get, a lane.
     */
    record NoReader() implements Answer {}

    /** The reader has given the session its lane, if there is anything in it. */
    record WrittenDown(long readerEpoch) implements Answer {}

    /** The reader does not answer; its lease ends then. */
    record Silent(Instant until) implements Answer {}
  }

  /**
   * Lets a session have its lane, if it has a message or an owner.
   *
   * @param needsLane whether it gets one in any case
   */
  Answer forLane(SessionId session, boolean needsLane) {
    long began = queue.time().nanoTime();
    while (queue.time().nanoTime() - began < PATIENCE_NANOS) {
      var ask = table.ask(session, needsLane);
      if (ask.isPresent()) {
        var answer = await(ask.get());
        if (answer.isPresent()) {
          return answer.get();
        }
      } else {
        // It discovers what was sent before, and ends a reader whose lease has run out.
        Waits.join(polling.requests().join());
        if (isNoReader()) {
          return new Answer.NoReader();
        }
        // Its bucket is on its way from one reader to another.
        LockSupport.parkNanos(MOVING_NANOS);
      }
    }
    throw new KeeperException.Unavailable(
        "Queue " + queue.name() + ", which another process reads alone,");
  }

  /** Returns when the reader has answered everything that it was asked before. */
  void awaitAnswers() {
    table.last().ifPresent(this::await);
  }

  /** Asks all who read this queue to stop; false when nobody does. */
  boolean toStop() {
    boolean areReaders = table.stopReaders();
    if (areReaders) {
      queue.tellReaders();
    }
    return areReaders;
  }

  private boolean isNoReader() {
    return polling.last().readBy().isEmpty() && !reader.isReading();
  }

  /** Empty when the reader that was asked reads no more. */
  private Optional<Answer> await(AskTable.Ask ask) {
    long began = queue.time().nanoTime();
    reader.asked();
    if (reader.isReading()) {
      Waits.join(polling.requests().join());
    }
    if (!reader.isAlone()) {
      queue.tellReaders();
    }
    while (true) {
      long changes = polling.changes().count();
      var seen = table.look(ask);
      if (seen.isAnswered()) {
        return Optional.of(new Answer.WrittenDown(ask.readerEpoch()));
      }
      if (seen.readsUntil().isEmpty()) {
        return Optional.empty();
      }
      if (queue.time().nanoTime() - began > SILENCE_NANOS) {
        return seen.readsUntil().map(Answer.Silent::new);
      }
      awaitChange(changes);
    }
  }

  private void awaitChange(long seen) {
    try {
      polling.changes().await(seen, LOOK_AGAIN_NANOS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new KeeperException.Unavailable("The reader (interrupted while waiting for it)", e);
    }
  }
}
