package dev.sessionkeeper.benchmarks.fuzz;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.benchmarks.processes.DatabaseAddress;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Stores messages in a queue in PostgreSQL. A stored message must come back as it was sent; a
 * message that cannot be stored must be refused before the database refuses it.
 */
final class FuzzedStore {
  private static final QueueName QUEUE = QueueName.of("fuzz");
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private static @Nullable FuzzedStore shared;

  private final PostgresQueueProvider provider;
  private long number;

  private FuzzedStore(DatabaseAddress address) {
    provider = PostgresQueueProvider.create(address.source());
    provider.declare(QUEUE, QueueSettings.ordered());
  }

  /** Opens the store in a database, until {@link #release}. */
  static synchronized void use(DatabaseAddress address) {
    shared = new FuzzedStore(address);
  }

  static synchronized void release() {
    if (shared != null) {
      shared.provider.close();
      shared = null;
    }
  }

  /** Returns the store in use; a process of Jazzer has its address in the environment. */
  static synchronized FuzzedStore shared() {
    if (shared == null) {
      shared = new FuzzedStore(DatabaseAddress.ofEnvironment());
    }
    return shared;
  }

  /**
   * Stores a message and reads it back. The input, divided at each byte 1, gives session id,
   * message id, property and body.
   */
  void storeAndRead(byte[] input) throws InterruptedException {
    var parts = new String(input, UTF_8).split("\u0001", 4);
    Message sent;
    try {
      sent =
          Message.of(SessionId.of(part(parts, 0, "s")), Payload.text(part(parts, 3, "")))
              .withId(MessageId.of(part(parts, 1, "m") + number++))
              .withProperty("p", part(parts, 2, "v"));
    } catch (IllegalArgumentException e) {
      return; // Refused by its type.
    }
    try {
      if (!(provider.send(QUEUE, List.of(sent)).getFirst() instanceof SendOutcome.Stored)) {
        return;
      }
    } catch (KeeperException.Unavailable e) {
      throw e;
    } catch (KeeperException | IllegalArgumentException e) {
      return; // Refused by a limit.
    }
    var accepted = provider.sessions(QUEUE).acceptNext(Owner.of("fuzz"), PATIENCE);
    if (!(accepted instanceof AcceptResult.Accepted held)) {
      throw new IllegalStateException("What was stored is not handed out: " + accepted);
    }
    try (var session = held.session()) {
      for (var delivery : session.receive(1, PATIENCE)) {
        requireEqual("session", sent.session().orElseThrow(), session.id());
        requireEqual("id", sent.id(), delivery.message().id());
        requireEqual("properties", sent.properties(), delivery.message().properties());
        if (!Arrays.equals(sent.payload().toBytes(), delivery.payload().toBytes())) {
          throw new IllegalStateException("The body came back changed");
        }
        var done = new HeldSession.Settled(delivery.sequence(), Settlement.complete());
        session.settle(List.of(done)).toCompletableFuture().join();
      }
    }
  }

  private static String part(String[] parts, int at, String other) {
    return parts.length > at ? parts[at] : other;
  }

  private static void requireEqual(String what, Object sent, Object got) {
    if (!sent.equals(got)) {
      throw new IllegalStateException(what + " was " + sent + " and came back as " + got);
    }
  }
}
