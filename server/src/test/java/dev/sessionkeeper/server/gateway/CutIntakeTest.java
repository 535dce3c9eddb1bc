package dev.sessionkeeper.server.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.store.Migrations;
import dev.sessionkeeper.testkit.FaultyNetwork;
import java.net.URI;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Webhook deliveries on connections that are cut between the commit and its answer. */
class CutIntakeTest {
  private final TestDatabase.Fresh fresh = TestDatabase.create();
  private FaultyNetwork network;
  private HikariDataSource pool;
  private PostgresQueueProvider queues;
  private AcceptDelivery accept;

  @BeforeEach
  void open() throws Exception {
    Migrations.apply(fresh.source(), "store");
    Migrations.apply(fresh.source(), "gateway");
    queues = PostgresQueueProvider.create(fresh.source());
    Intake.BOTS.forEach(bot -> queues.declare(bot.queue(), bot.queueSettings()));
    int port = URI.create(fresh.url().substring("jdbc:".length())).getPort();
    network = FaultyNetwork.to(port);
    var config = new HikariConfig();
    config.setJdbcUrl(fresh.url().replace(":" + port + "/", ":" + network.port() + "/"));
    config.setUsername(fresh.user());
    config.setPassword(fresh.password());
    // One connection, so that a second attempt has to open another.
    config.setMaximumPoolSize(1);
    config.setConnectionTimeout(2_000);
    pool = new HikariDataSource(config);
    accept = new AcceptDelivery(Database.of(pool), new StoreOutbox(queues), 1);
  }

  @AfterEach
  void close() throws Exception {
    pool.close();
    network.close();
    queues.close();
  }

  @Test
  void aDeliveryWhoseCommitWasNotAnsweredIsFoundAndAccepted() throws Exception {
    network.cutAnswerTo("COMMIT");
    var event = Intake.event(UUID.randomUUID().toString(), 1);
    var outcome = accept.accept(Intake.delivery(event), Intake.BOTS);
    assertThat(network.cuts()).isEqualTo(1);
    assertThat(outcome).isInstanceOf(AcceptDelivery.Outcome.Accepted.class);
    assertThat(events()).isEqualTo(1);
  }

  /** The answer was once "nothing was changed", because the second attempt found no database. */
  @Test
  void aDeliveryThatCannotBeLookedUpHasAnUnknownOutcome() {
    network.cutAnswerTo("COMMIT");
    network.refuseAfterCut();
    var event = Intake.event(UUID.randomUUID().toString(), 1);
    assertThatThrownBy(() -> accept.accept(Intake.delivery(event), Intake.BOTS))
        .isInstanceOf(KeeperException.OutcomeUnknown.class);
    assertThat(events()).as("it is stored").isEqualTo(1);
  }

  private long events() {
    return Database.of(fresh.source())
        .withConnection(
            connection -> {
              try (var statement = connection.createStatement();
                  var rows = statement.executeQuery("SELECT count(*) FROM keeper.github_event")) {
                rows.next();
                return rows.getLong(1);
              }
            });
  }
}
