package dev.sessionkeeper.postgres;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells other processes that something has come, and hears them: {@code NOTIFY} and {@code LISTEN}.
 *
 * <p>Only a hint that saves waiting: whoever misses one looks again within a second. It is sent
 * after the commit, in a transaction of its own, and rarely: inside of the sender's transaction the
 * server's one lock for notifications would be held over every commit.
 */
final class Notifications implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Notifications.class);
  private static final String CHANNEL = "keeper_queues";
  private static final String NOTIFY = "SELECT pg_notify('" + CHANNEL + "', p) FROM unnest(?) p";
  private static final Duration QUIET = Duration.ofMillis(5);
  private static final int HEAR_MILLIS = 5_000;

  private final Connections connections;
  private final Node node;
  private final Heard heard;
  private final AtomicBoolean isListening = new AtomicBoolean();
  private final AtomicBoolean isSending = new AtomicBoolean();
  private final Set<String> unsent = new LinkedHashSet<>();
  private volatile boolean closed;
  private volatile @Nullable Thread ear;

  Notifications(Connections connections, Node node, Heard heard) {
    this.connections = connections;
    this.node = node;
    this.heard = heard;
  }

  /** What is done when something is heard. */
  interface Heard {
    void wake(int queue);

    void news(int queue, SessionId session);

    /** Something may have been missed. */
    void everything();
  }

  /** Something was sent to the queue. */
  void sent(int queue) {
    tell("q " + node.id() + " " + queue);
  }

  /** A session that this node holds has news. */
  void news(String ofNode, int queue, SessionId session) {
    tell("n " + ofNode + " " + queue + " " + session);
  }

  private void tell(String payload) {
    synchronized (unsent) {
      unsent.add(payload);
    }
    if (!closed && isSending.compareAndSet(false, true)) {
      var unused = Thread.ofVirtual().name("keeper-notify").start(this::sendAll);
    }
  }

  private void sendAll() {
    try {
      for (var payloads = takeUnsent(); payloads.length > 0; payloads = takeUnsent()) {
        send(payloads);
        Thread.sleep(QUIET);
      }
    } catch (KeeperException e) {
      log.debug("Could not notify others; they look within a second", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      isSending.set(false);
    }
  }

  private String[] takeUnsent() {
    synchronized (unsent) {
      var payloads = unsent.toArray(String[]::new);
      unsent.clear();
      return payloads;
    }
  }

  private void send(String[] payloads) {
    connections.call(
        connection -> {
          try (var statement = connection.prepareStatement(NOTIFY)) {
            statement.setArray(1, SqlArray.of(connection, "text", payloads));
            return statement.execute();
          }
        });
  }

  /** Listens from now on, on a connection of its own. */
  void listen() {
    if (!isListening.get() && isListening.compareAndSet(false, true)) {
      ear = Thread.ofVirtual().name("keeper-listen").start(this::hearUntilClosed);
    }
  }

  private void hearUntilClosed() {
    while (!closed) {
      try (var connection = connections.dedicated()) {
        hear(connection);
        unlisten(connection);
      } catch (SQLException e) {
        if (!closed) {
          log.debug("The listening connection broke; polling goes on meanwhile", e);
          sleep();
        }
      }
    }
  }

  private static void sleep() {
    try {
      Thread.sleep(ThreadLocalRandom.current().nextLong(200, 1000));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void hear(Connection connection) throws SQLException {
    try (var statement = connection.createStatement()) {
      statement.execute("LISTEN " + CHANNEL);
    }
    heard.everything();
    var notifications = connection.unwrap(PGConnection.class);
    while (!closed) {
      var found = notifications.getNotifications(HEAR_MILLIS);
      for (int i = 0; found != null && i < found.length; i++) {
        hear(found[i].getParameter());
      }
    }
  }

  private static void unlisten(Connection connection) throws SQLException {
    try (var statement = connection.createStatement()) {
      statement.execute("UNLISTEN *");
    }
  }

  private void hear(String payload) {
    var parts = payload.split(" ", 4);
    boolean fromHere = parts[1].equals(node.id());
    if (parts[0].equals("q") && !fromHere) {
      heard.wake(Integer.parseInt(parts[2]));
    } else if (parts[0].equals("n") && fromHere) {
      heard.news(Integer.parseInt(parts[2]), SessionId.of(parts[3]));
    }
  }

  @Override
  public void close() {
    closed = true;
    var thread = ear;
    if (thread == null) {
      return;
    }
    try {
      // It hears the word, gives its connection back and ends.
      send(new String[] {"x " + node.id()});
      if (!thread.join(Duration.ofSeconds(1))) {
        thread.interrupt();
      }
    } catch (KeeperException e) {
      thread.interrupt();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
