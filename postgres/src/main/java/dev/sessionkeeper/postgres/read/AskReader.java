package dev.sessionkeeper.postgres.read;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.jdbc.Futures;
import dev.sessionkeeper.postgres.poll.Polling;
import dev.sessionkeeper.postgres.queue.QueueContext;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/**
 * Asks the reader of a queue, which may be this process, to persist a session. The reader keeps all
 * other sessions; a request costs it one statement.
 */
public final class AskReader {
  private static final long PATIENCE_NANOS = Duration.ofMinutes(2).toNanos();

  /** A reader that has not answered by then is frozen, or cannot reach the database. */
  private static final long SILENCE_NANOS = Duration.ofSeconds(1).toNanos();

  private static final long LOOK_AGAIN_NANOS = Duration.ofMillis(20).toNanos();
  private static final long MOVING_NANOS = Duration.ofMillis(5).toNanos();

  private final QueueContext queue;
  private final ReadBuckets reader;
  private final Polling polling;
  private final AskTable table;

  public AskReader(QueueContext queue, ReadBuckets reader, Polling polling) {
    this.queue = queue;
    this.reader = reader;
    this.polling = polling;
    this.table = new AskTable(queue);
  }

  /** The result of a session request. */
  public sealed interface Answer {
    /**
     * No process reads the session's bucket: a poll gives every message that was sent before its
     * row.
     */
    record NoReader() implements Answer {}

    /** The reader has persisted the session, if it has messages or an owner. */
    record Persisted(long readerEpoch) implements Answer {}

    /** The reader does not answer; its lease ends at the given time. */
    record Silent(Instant until) implements Answer {}
  }

  /**
   * Requests that a session is persisted, if it has a message or an owner.
   *
   * @param needsRow whether the session gets a row even without both
   */
  public Answer forRow(SessionId session, boolean needsRow) {
    long began = queue.time().nanoTime();
    while (queue.time().nanoTime() - began < PATIENCE_NANOS) {
      var ask = table.ask(session, needsRow);
      if (ask.isPresent()) {
        var answer = await(ask.get());
        if (answer.isPresent()) {
          return answer.get();
        }
      } else {
        // The poll finds earlier messages, and ends a reader whose lease has expired.
        Futures.join(polling.requests().join());
        if (isNoReader()) {
          return new Answer.NoReader();
        }
        // The bucket is on its way from one reader to another.
        LockSupport.parkNanos(MOVING_NANOS);
      }
    }
    throw new KeeperException.Unavailable(
        "Queue " + queue.name() + ", which another process reads alone,");
  }

  /** Returns when the reader has answered all earlier requests. */
  public void awaitAnswers() {
    table.last().ifPresent(this::await);
  }

  /** Asks all readers of this queue to stop. Returns false if there are none. */
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

  /** Waits for the answer; empty if the reader that was asked has stopped. */
  private Optional<Answer> await(AskTable.Ask ask) {
    long began = queue.time().nanoTime();
    reader.asked();
    if (reader.isReading()) {
      Futures.join(polling.requests().join());
    }
    if (!reader.isAlone()) {
      queue.tellReaders();
    }
    while (true) {
      long changes = polling.changes().count();
      var seen = table.look(ask);
      if (seen.isAnswered()) {
        return Optional.of(new Answer.Persisted(ask.readerEpoch()));
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
