package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.Owner;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.batch.Buckets;
import dev.sessionkeeper.spi.AcceptResult;
import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Two processes that each read a share of a queue, and a third one that sends. */
abstract class ReadsInParts extends ReadsAlone {
  static final long LOWER = 0xFFFF_FFFFL;

  private static final String NODE_OF_ONE =
      "SELECT hashtext(min(r.node)) FROM keeper.reader r JOIN keeper.queue k ON k.id = r.queue WHERE k.name = ?";

  PostgresQueueProvider second;
  private long nodeOfReader;

  @BeforeEach
  void openSecond() {
    second =
        PostgresQueueProvider.create(
            database.pool(), PostgresOptions.ofDefaults().withCarryFrom(0));
  }

  @AfterEach
  void closeSecond() {
    second.close();
  }

  long owned() {
    return count(
        "SELECT COALESCE(bit_or(r.owns), 0) FROM keeper.reader r JOIN keeper.queue k ON k.id = r.queue WHERE k.name = ?");
  }

  private long ownedTwice() {
    return count(
        """
        SELECT count(*) FROM keeper.reader a JOIN keeper.reader b ON b.queue = a.queue AND b.epoch > a.epoch AND a.owns & b.owns <> 0
          JOIN keeper.queue k ON k.id = a.queue WHERE k.name = ?
        """);
  }

  private long readersWithParts() {
    return count(
        "SELECT count(*) FROM keeper.reader r JOIN keeper.queue k ON k.id = r.queue WHERE k.name = ? AND r.owns <> 0");
  }

  /** Returns the process that reads the share of this session. */
  PostgresQueueProvider ownerOf(SessionId session) {
    boolean isReader =
        count(
                """
                SELECT count(*) FROM keeper.reader r JOIN keeper.queue k ON k.id = r.queue
                 WHERE k.name = ? AND keeper.is_of('%s', r.owns) AND hashtext(r.node) = %d
                """
                    .formatted(session, nodeOfReader))
            == 1;
    return isReader ? reader : second;
  }

  long epochs() {
    return count(
        "SELECT sum(r.epoch)::bigint FROM keeper.reader r JOIN keeper.queue k ON k.id = r.queue WHERE k.name = ?");
  }

  long batches() {
    return database.count("bundle", queue);
  }

  /** Lets both processes wait for sessions until each reads its share. */
  void share() throws Exception {
    want(reader, ME, Duration.ZERO);
    await().atMost(SOON).until(() -> readers() > 0);
    if (readers() == 1) {
      nodeOfReader = count(NODE_OF_ONE);
    }
    want(second, OTHER, Duration.ofMillis(50));
    await()
        .atMost(SOON)
        .untilAsserted(
            () -> {
              assertThat(readersWithParts()).isEqualTo(2);
              assertThat(owned()).isEqualTo(Buckets.ALL);
              assertThat(ownedTwice()).isZero();
            });
    // By now each process has seen its part.
    want(reader, ME, Duration.ofMillis(10));
    want(second, OTHER, Duration.ofMillis(10));
  }

  /** Waits for a session, and gives the session back. */
  void want(PostgresQueueProvider provider, Owner owner, Duration wait) throws Exception {
    if (provider.sessions(queue).acceptNext(owner, wait)
        instanceof AcceptResult.Accepted accepted) {
      accepted.session().close();
    }
  }

  /** Returns a session of the lower or the upper half of the buckets. */
  static SessionId ofHalf(boolean isLower, int number) {
    return IntStream.iterate(0, i -> i + 1)
        .mapToObj(i -> SessionId.of("s" + i))
        .filter(id -> Buckets.have(LOWER, id) == isLower)
        .skip(number)
        .findFirst()
        .orElseThrow();
  }
}
