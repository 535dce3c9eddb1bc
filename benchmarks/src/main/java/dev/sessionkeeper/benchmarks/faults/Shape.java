package dev.sessionkeeper.benchmarks.faults;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * The parameters that all processes of a run share, passed in their environment.
 *
 * @param folder of the journals
 * @param senders how many processes send
 * @param sessions of each sender
 * @param rate messages per second of each sender; 0 for as many as are acknowledged
 * @param backlog senders wait while the queue holds more messages than this; 0 for no limit
 * @param threads of each sender
 * @param slots how many sessions a consumer holds at once
 * @param handlers the kind of handlers
 * @param lock the lock duration of the queue
 * @param maxAttempts the queue's {@code maxDeliveryCount}
 */
record Shape(
    Path folder,
    int senders,
    int sessions,
    int rate,
    int backlog,
    int threads,
    int slots,
    Handlers handlers,
    Duration lock,
    int maxAttempts) {
  static final QueueName QUEUE = QueueName.of("faults");

  private static final String PREFIX = "KEEPER_FAULTS_";

  /** The ways in which handlers end their messages. */
  enum Handlers {
    COMPLETE,
    TRANSACTIONAL,
    MIXED
  }

  static Shape ofEnvironment() {
    return new Shape(
        Path.of(ChildMain.wished(PREFIX + "FOLDER")),
        Integer.parseInt(ChildMain.wished(PREFIX + "SENDERS")),
        Integer.parseInt(ChildMain.wished(PREFIX + "SESSIONS")),
        Integer.parseInt(ChildMain.wished(PREFIX + "RATE")),
        Integer.parseInt(ChildMain.wished(PREFIX + "BACKLOG")),
        Integer.parseInt(ChildMain.wished(PREFIX + "THREADS")),
        Integer.parseInt(ChildMain.wished(PREFIX + "SLOTS")),
        Handlers.valueOf(ChildMain.wished(PREFIX + "HANDLERS")),
        Duration.parse(ChildMain.wished(PREFIX + "LOCK")),
        Integer.parseInt(ChildMain.wished(PREFIX + "ATTEMPTS")));
  }

  Map<String, String> asEnvironment() {
    var all = new HashMap<String, String>();
    all.put(PREFIX + "FOLDER", folder.toString());
    all.put(PREFIX + "SENDERS", Integer.toString(senders));
    all.put(PREFIX + "SESSIONS", Integer.toString(sessions));
    all.put(PREFIX + "RATE", Integer.toString(rate));
    all.put(PREFIX + "BACKLOG", Integer.toString(backlog));
    all.put(PREFIX + "THREADS", Integer.toString(threads));
    all.put(PREFIX + "SLOTS", Integer.toString(slots));
    all.put(PREFIX + "HANDLERS", handlers.name());
    all.put(PREFIX + "LOCK", lock.toString());
    all.put(PREFIX + "ATTEMPTS", Integer.toString(maxAttempts));
    return all;
  }

  QueueSettings settings() {
    return QueueSettings.ordered().withLockDuration(lock).withMaxDeliveryCount(maxAttempts);
  }

  /** Returns the sessions of one sender, by number. */
  List<String> sessionsOf(int sender) {
    return IntStream.range(0, sessions).mapToObj(k -> session(sender, k)).toList();
  }

  String session(int sender, int k) {
    boolean isTransactional =
        switch (handlers) {
          case COMPLETE -> false;
          case TRANSACTIONAL -> true;
          case MIXED -> k % 2 == 0;
        };
    return (isTransactional ? CheckEffects.TRANSACTIONAL : "c-") + sender + "-" + k;
  }

  /**
   * Returns whether the operator may dead-letter messages of this session; other sessions are
   * judged strictly.
   */
  static boolean mayPersonKill(int k) {
    return k % 5 == 0;
  }

  /** Returns whether the sender chooses the ids of this session's messages. */
  static boolean hasOwnIds(int k) {
    return k % 3 == 0;
  }

  /** Returns whether messages of this session are sent in a transaction of the application. */
  static boolean isOutbox(int k) {
    return k % 7 == 3;
  }
}
