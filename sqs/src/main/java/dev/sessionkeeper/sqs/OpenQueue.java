package dev.sessionkeeper.sqs;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.sqs.SqsClient;

/** A queue in use, with its cached settings and its workers. */
final class OpenQueue {
  private static final Logger log = LoggerFactory.getLogger(OpenQueue.class);
  private static final Duration SETTINGS_KEPT = Duration.ofSeconds(30);

  private final QueueName name;
  private final DescribeQueues.Found found;
  private final DescribeQueues describe;
  private final TimeSource time;
  private final SendMessages sending;
  private final SqsSessions sessions;
  private final SqsMessages messages;
  private final SqsDeadLetters deadLetters;
  private final DeleteMessages deleting;
  private volatile @Nullable Known known;
  private @Nullable String deadLettersUrl;

  OpenQueue(
      QueueName name,
      DescribeQueues.Found found,
      DescribeQueues describe,
      SqsClient client,
      StoreClock clock,
      TimeSource time,
      Executor io,
      Optional<SessionStateStore> states) {
    this.name = name;
    this.found = found;
    this.describe = describe;
    this.time = time;
    var calls = new SqsCalls(client, clock, name, found.mode(), found::url);
    var dead = new SqsCalls(client, clock, name, found.mode(), this::deadLettersUrl);
    var queue =
        new SqsQueue(name, this::settings, calls, dead, new AttemptBook(), clock, time, io, states);
    this.deleting = new DeleteMessages(calls, io);
    this.sending = new SendMessages(calls, new RecentIds(time, () -> settings().duplicateWindow()));
    this.sessions = new SqsSessions(queue, deleting);
    this.messages = new SqsMessages(queue, deleting);
    this.deadLetters = new SqsDeadLetters(queue, found.sqsName(), found.isShared());
  }

  /** Returns the dead-letter queue, which is created if another client's queue has none. */
  private synchronized String deadLettersUrl() {
    var url = deadLettersUrl;
    if (url == null) {
      url = found.deadLettersUrl().orElseGet(() -> describe.createDeadLetters(name, found.mode()));
      deadLettersUrl = url;
    }
    return url;
  }

  QueueMode mode() {
    return found.mode();
  }

  QueueSettings settings() {
    var last = known;
    if (last != null && time.since(last.since()).compareTo(SETTINGS_KEPT) < 0) {
      return last.settings();
    }
    var settings = last == null ? read() : readOr(last.settings());
    known = new Known(settings, time.nanoTime());
    return settings;
  }

  /**
   * Reads the settings. While SQS does not answer, the previous settings are used for another
   * while.
   */
  private QueueSettings readOr(QueueSettings last) {
    try {
      return read();
    } catch (KeeperException.Unavailable e) {
      log.debug("The settings of {} could not be read again; the last ones are kept", name, e);
      return last;
    }
  }

  private QueueSettings read() {
    try {
      return describe.settings(found);
    } catch (SdkException e) {
      throw SqsCalls.translate(name, e);
    }
  }

  void forgetSettings() {
    known = null;
  }

  SendMessages sending() {
    return sending;
  }

  SqsSessions sessions() {
    return sessions;
  }

  SqsMessages messages() {
    return messages;
  }

  SqsDeadLetters deadLetters() {
    return deadLetters;
  }

  void close() {
    sessions.close();
    messages.close();
    deleting.close();
  }

  private record Known(QueueSettings settings, long since) {}
}
