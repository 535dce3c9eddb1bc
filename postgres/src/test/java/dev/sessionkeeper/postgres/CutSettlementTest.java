package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.HeldSession.Settled;
import dev.sessionkeeper.testkit.FaultyNetwork;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Settlements on connections that are cut between the commit and its answer. */
class CutSettlementTest {
  private static final QueueName QUEUE = QueueName.of("cut");
  private static final Duration SOON = Duration.ofSeconds(10);

  private TestDatabase database;
  private FaultyNetwork network;
  private HikariDataSource pool;
  private PostgresQueueProvider provider;

  @BeforeEach
  void start() throws Exception {
    database = TestDatabase.start();
    var url = database.url();
    int port = URI.create(url.substring("jdbc:".length())).getPort();
    network = FaultyNetwork.to(port);
    var source = new PGSimpleDataSource();
    source.setUrl(url.replace(":" + port + "/", ":" + network.port() + "/"));
    source.setUser(database.user());
    source.setPassword(database.password());
    source.setPrepareThreshold(0);
    var config = new HikariConfig();
    config.setDataSource(source);
    // A connection that the pool opens in advance would survive the cut.
    config.setMinimumIdle(0);
    pool = new HikariDataSource(config);
    provider =
        PostgresQueueProvider.create(
            pool, PostgresOptions.ofDefaults().withCarryFrom(PostgresOptions.NEVER));
    provider.declare(QUEUE, QueueSettings.ordered());
    pool.getHikariConfigMXBean().setConnectionTimeout(250);
  }

  @AfterEach
  void stop() throws Exception {
    network.refuse(false);
    provider.close();
    pool.close();
    network.close();
    database.close();
  }

  /** The answer was once "nothing was changed". */
  @Test
  void aDeadLetterThatWasNotAnsweredHasAnUnknownOutcome() throws Exception {
    var held = take();
    network.cutAnswerTo("settle_each");
    assertUnknown(held, Settlement.deadLetter("bad"));
    assertThat(database.number(DEAD, QUEUE)).as("it took effect").isEqualTo(1);
  }

  @Test
  void aCompletionThatWasNotAnsweredIsFoundOnTheNextConnection() throws Exception {
    var held = take();
    network.cutAnswerTo("settle_lanes");
    settle(held, Settlement.complete());
    assertThat(network.cuts()).isEqualTo(1);
  }

  @Test
  void aCompletionThatCannotBeLookedUpHasAnUnknownOutcome() throws Exception {
    var held = take();
    network.cutAnswerTo("settle_lanes");
    network.refuseAfterCut();
    pool.getHikariPoolMXBean().softEvictConnections();
    assertUnknown(held, Settlement.complete());
  }

  /** If the answer were "lost", the caller would believe that nothing was changed. */
  @Test
  void aCompletionThatTookEffectIsNotCalledLostWhenAnotherOwnerCameMeanwhile() throws Exception {
    assertUnknownIfMeanwhile(
        take(),
        "settle_lanes",
        """
        WITH taken AS (UPDATE keeper.lane l SET epoch = l.epoch + 1 FROM keeper.queue k
                        WHERE k.id = l.queue AND k.name = ? RETURNING 1) SELECT count(*) FROM taken
        """);
  }

  /** A crash of the database ends the reader's lease, and its cached sessions with it. */
  @Test
  void aCompletionThatTookEffectIsNotCalledLostWhenTheDatabaseCrashedMeanwhile() throws Exception {
    provider.close();
    provider = PostgresQueueProvider.create(pool, PostgresOptions.ofDefaults().withCarryFrom(0));
    assertUnknownIfMeanwhile(
        take(),
        "settle_carried",
        """
        WITH lost AS (DELETE FROM keeper.reading x USING keeper.queue k
                       WHERE k.id = x.queue AND k.name = ? RETURNING 1) SELECT count(*) FROM lost
        """);
  }

  private void assertUnknownIfMeanwhile(HeldSession held, String statement, String meanwhile)
      throws Exception {
    var delivery = held.receive(1, SOON).get(0);
    network.cutAnswerTo(statement);
    network.refuseAfterCut();
    pool.getHikariPoolMXBean().softEvictConnections();
    var settled =
        held.settle(List.of(new Settled(delivery.sequence(), Settlement.complete())))
            .toCompletableFuture();
    while (network.cuts() == 0) {
      Thread.onSpinWait();
    }
    assertThat(database.number(meanwhile, QUEUE)).isEqualTo(1);
    network.refuse(false);
    assertThatThrownBy(settled::join)
        .isInstanceOf(CompletionException.class)
        .hasCauseInstanceOf(KeeperException.OutcomeUnknown.class);
    assertThat(database.count("waiting_message", QUEUE)).as("it took effect").isZero();
  }

  private static final String DEAD =
      "SELECT count(*) FROM keeper.dead_letter d JOIN keeper.queue k ON k.id = d.queue WHERE k.name = ?";

  private void assertUnknown(HeldSession held, Settlement settlement) throws Exception {
    var delivery = held.receive(1, SOON).get(0);
    var settled = held.settle(List.of(new Settled(delivery.sequence(), settlement)));
    assertThatThrownBy(() -> settled.toCompletableFuture().join())
        .isInstanceOf(CompletionException.class)
        .hasCauseInstanceOf(KeeperException.OutcomeUnknown.class);
    assertThat(network.cuts()).isEqualTo(1);
  }

  private static void settle(HeldSession held, Settlement settlement) throws Exception {
    var delivery = held.receive(1, SOON).get(0);
    held.settle(List.of(new Settled(delivery.sequence(), settlement))).toCompletableFuture().join();
  }

  private HeldSession take() throws InterruptedException {
    provider.send(QUEUE, List.of(Message.of(SessionId.of("s"), Payload.text("x"))));
    var next = provider.sessions(QUEUE).acceptNext(Owner.of("me"), SOON);
    return ((AcceptResult.Accepted) next).session();
  }
}
