package dev.sessionkeeper.store;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends and receives notifications between processes, with {@code NOTIFY} and {@code LISTEN}. One
 * connection listens to all channels.
 *
 * <p>A notification is a hint that saves waiting, and may get lost, so its receivers also poll. It
 * is sent after the commit, in a transaction of its own: inside the sender's transaction, the
 * server's one lock for notifications would be held during every commit.
 *
 * <p>Threads: any. Listeners are called on one thread and must not block.
 */
public final class Notices implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Notices.class);
  private static final Pattern CHANNEL = Pattern.compile("[a-z][a-z0-9_]{0,62}");
  // Asynchronous commit: a crash of the database also disconnects all listeners, so the row need
  // not survive.
  private static final String NOTIFY =
      """
      SELECT set_config('synchronous_commit', 'off', true), pg_notify(n.channel, n.payload)
        FROM unnest(?, ?) AS n (channel, payload)
      """;
  // The channel that wakes the listening thread after its set of channels has changed.
  private static final String WAKE = "keeper_wake";
  private static final Duration QUIET = Duration.ofMillis(5);
  private static final int HEAR_MILLIS = 5_000;
  private static final int PROBE_MILLIS = 5_000;

  private final Database database;
  private final DataSource listening;
  private final Map<String, Ear> ears = new ConcurrentHashMap<>();
  private final AtomicBoolean isListening = new AtomicBoolean();
  private final Set<Notice> unsent = new LinkedHashSet<>();

  /**
   * Whether a thread is sending. Guarded by the lock of the unsent notifications, so that none is
   * left behind.
   */
  private boolean isSending;

  private volatile boolean closed;
  private volatile @Nullable Thread thread;

  private Notices(DataSource sending, DataSource listening) {
    this.database = Database.of(sending);
    this.listening = listening;
  }

  /**
   * Connects when the first listener is added.
   *
   * @param sending for short statements; may be a pool
   * @param listening for one connection, kept while there are listeners
   */
  public static Notices over(DataSource sending, DataSource listening) {
    return new Notices(sending, listening);
  }

  /** Handles a notification. */
  public interface Ear {
    void heard(String payload);

    /** Handles the possible loss of notifications. */
    void everything();
  }

  private record Notice(String channel, String payload) {}

  /** Sends a notification soon; equal ones within a moment are sent once. Never blocks or fails. */
  public void tell(String channel, String payload) {
    requireChannel(channel);
    boolean starts;
    synchronized (unsent) {
      unsent.add(new Notice(channel, payload));
      starts = !closed && !isSending;
      isSending |= starts;
    }
    if (starts) {
      Thread.ofVirtual().name("keeper-notify").start(this::sendAll);
    }
  }

  private void sendAll() {
    boolean isAllSent = false;
    try {
      for (var notices = takeUnsent(); !notices.isEmpty(); notices = takeUnsent()) {
        trySend(notices);
        Thread.sleep(QUIET);
      }
      isAllSent = true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      if (!isAllSent) {
        stopSending();
      }
    }
  }

  /** Continues with later notifications if an earlier one failed. */
  private void trySend(List<Notice> notices) {
    try {
      send(notices);
    } catch (RuntimeException e) {
      log.debug("Could not notify others; they look by themselves", e);
    }
  }

  /**
   * Removes and returns all unsent notifications; if there are none, the next one starts the
   * sending again.
   */
  private List<Notice> takeUnsent() {
    synchronized (unsent) {
      var notices = new ArrayList<>(unsent);
      unsent.clear();
      isSending = !notices.isEmpty();
      return notices;
    }
  }

  private void stopSending() {
    synchronized (unsent) {
      isSending = false;
    }
  }

  private void send(List<Notice> notices) {
    database.inStatement(
        connection -> {
          try (var statement = connection.prepareStatement(NOTIFY)) {
            var columns = new Columns<>(statement, notices);
            columns.add("text", Notice::channel);
            columns.add("text", Notice::payload);
            return statement.execute();
          }
        });
  }

  /** Listens to a channel from now on. A channel has one listener. */
  public void listen(String channel, Ear ear) {
    requireChannel(channel);
    if (ears.putIfAbsent(channel, ear) != null) {
      throw new IllegalArgumentException("The channel " + channel + " has an ear already");
    }
    if (isListening.compareAndSet(false, true)) {
      thread = Thread.ofVirtual().name("keeper-listen").start(this::hearUntilClosed);
    } else {
      tell(WAKE, "");
    }
  }

  /** Stops listening to a channel. */
  public void forget(String channel) {
    ears.remove(channel);
  }

  private void hearUntilClosed() {
    while (!closed) {
      try (var connection = listening.getConnection()) {
        hear(connection);
        unlisten(connection);
      } catch (SQLException e) {
        if (!closed) {
          log.debug("The listening connection broke; those who listen look meanwhile", e);
          pause();
        }
      }
    }
  }

  private static void pause() {
    try {
      Thread.sleep(ThreadLocalRandom.current().nextLong(200, 1000));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void hear(Connection connection) throws SQLException {
    var known = new LinkedHashSet<String>();
    connection.setNetworkTimeout(Runnable::run, PROBE_MILLIS);
    listenTo(connection, WAKE);
    var notifications = connection.unwrap(PGConnection.class);
    while (!closed) {
      for (var channel : ears.keySet()) {
        if (known.add(channel)) {
          listenTo(connection, channel);
          everything(channel);
        }
      }
      known.retainAll(ears.keySet());
      var found = notifications.getNotifications(HEAR_MILLIS);
      if (found == null || found.length == 0) {
        probe(connection);
      }
      for (int i = 0; found != null && i < found.length; i++) {
        heard(found[i].getName(), found[i].getParameter());
      }
    }
  }

  /**
   * Queries the database: a listener whose database has vanished would otherwise wait silently for
   * ever.
   */
  private static void probe(Connection connection) throws SQLException {
    try (var statement = connection.createStatement()) {
      statement.execute("SELECT 1");
    }
  }

  private static void listenTo(Connection connection, String channel) throws SQLException {
    try (var statement = connection.createStatement()) {
      statement.execute("LISTEN " + channel);
    }
  }

  private static void unlisten(Connection connection) throws SQLException {
    try (var statement = connection.createStatement()) {
      statement.execute("UNLISTEN *");
    }
  }

  private void everything(String channel) {
    var ear = ears.get(channel);
    if (ear != null) {
      ear.everything();
    }
  }

  private void heard(String channel, String payload) {
    var ear = ears.get(channel);
    if (ear != null) {
      ear.heard(payload);
    }
  }

  private static void requireChannel(String channel) {
    if (!CHANNEL.matcher(channel).matches()) {
      throw new IllegalArgumentException(
          "A channel has 1 to 63 lower-case letters, digits and underscores, was " + channel);
    }
  }

  @Override
  public void close() {
    closed = true;
    var ear = thread;
    if (ear == null) {
      return;
    }
    try {
      // The listening thread receives this, returns its connection and ends.
      send(List.of(new Notice(WAKE, "")));
      if (!ear.join(Duration.ofSeconds(1))) {
        ear.interrupt();
      }
    } catch (RuntimeException e) {
      ear.interrupt();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
