package dev.sessionkeeper.server.gateway;

import static dev.sessionkeeper.server.gateway.GatewayServer.pull;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.github.Bot;
import dev.sessionkeeper.github.GitHubEvent;
import dev.sessionkeeper.github.OrderingScope;
import dev.sessionkeeper.github.RawDelivery;
import dev.sessionkeeper.github.ReadDelivery;
import dev.sessionkeeper.github.ReadResult;
import dev.sessionkeeper.github.Subscription;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.store.Migrations;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Breaks the connection of an intake at every statement, and at COMMIT before and after it. */
class KillPointTest {
  private static final List<Bot> BOTS =
      List.of(
          Bot.of("entity", Subscription.to(List.of("*")), OrderingScope.ENTITY),
          Bot.of("repository", Subscription.to(List.of("*")), OrderingScope.REPOSITORY),
          Bot.of("plain", Subscription.to(List.of("*")), OrderingScope.NONE));

  private static DataSource source;
  private static PostgresQueueProvider queues;

  @BeforeAll
  static void open() {
    source = TestDatabase.create().source();
    Migrations.apply(source, "store");
    Migrations.apply(source, "gateway");
    queues = PostgresQueueProvider.create(source);
    BOTS.forEach(bot -> queues.declare(bot.queue(), bot.queueSettings()));
  }

  @AfterAll
  static void close() {
    queues.close();
  }

  /** How a connection breaks. */
  private enum Break {
    BEFORE,
    AFTER
  }

  @Test
  void whereverTheConnectionBreaksEverythingIsThereOnceOrNothing() throws Exception {
    int statements = statementsOfAnIntake();
    assertThat(statements).isGreaterThan(6);
    for (int at = 1; at <= statements; at++) {
      for (var how : Break.values()) {
        var event = event();
        var broken = breaking(at(at, how));
        var failure = catchThrowable(() -> accept(event, broken));
        boolean isCommit = at == statements;
        if (isCommit) {
          // The answer to COMMIT is missing; looking again finds it, or does it.
          assertThat(failure).as("break %s of COMMIT", how).isNull();
          assertStored(event, 1);
        } else {
          assertThat(failure).as("break %s at %s", how, at).isInstanceOf(KeeperException.class);
          assertStored(event, 0);
        }
        // GitHub, or a person there, delivers again.
        var outcome = accept(event, source);
        assertThat(outcome)
            .isInstanceOf(
                isCommit
                    ? AcceptDelivery.Outcome.Duplicate.class
                    : AcceptDelivery.Outcome.Accepted.class);
        assertThat(outcome.routes())
            .extracting(RoutedMessage::bot)
            .containsExactlyInAnyOrder("entity", "repository", "plain");
        assertStored(event, 1);
      }
    }
  }

  private static int statementsOfAnIntake() throws Exception {
    var count = new AtomicInteger();
    accept(
        event(),
        breaking(
            (call, work) -> {
              count.incrementAndGet();
              return work.run();
            }));
    return count.get();
  }

  private static void assertStored(GitHubEvent event, int times) throws SQLException {
    var id = event.id().toString();
    assertThat(count("SELECT count(*) FROM keeper.github_event WHERE id = '" + id + "'"))
        .isEqualTo(times);
    assertThat(count("SELECT count(*) FROM keeper.message WHERE properties LIKE '%" + id + "%'"))
        .isEqualTo(2L * times);
    assertThat(
            count("SELECT count(*) FROM keeper.loose_message WHERE properties LIKE '%" + id + "%'"))
        .isEqualTo(times);
  }

  private static long count(String sql) throws SQLException {
    try (var connection = source.getConnection();
        var statement = connection.createStatement();
        var rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getLong(1);
    }
  }

  private static GitHubEvent event() {
    var body = pull("acme/kill", 1, 1).getBytes(UTF_8);
    var read =
        ReadDelivery.readAgain(
            new RawDelivery(
                Optional.of("pull_request"),
                Optional.of(UUID.randomUUID().toString()),
                Optional.empty(),
                Optional.of("application/json"),
                body));
    return ((ReadResult.Accepted) read).event();
  }

  private static AcceptDelivery.Outcome accept(GitHubEvent event, DataSource over)
      throws InterruptedException {
    var raw =
        new RawDelivery(
            Optional.of(event.type()),
            Optional.of(event.deliveryId()),
            Optional.empty(),
            Optional.of("application/json"),
            event.payload().toBytes());
    var added = new NewEvent(event, raw, Map.of(), TraceContext.continuing(""), List.of());
    return new AcceptDelivery(Database.of(over), new StoreOutbox(queues), 2).accept(added, BOTS);
  }

  /** Work on the real connection. */
  private interface Work {
    Object run() throws Throwable;
  }

  /** Stands between a caller and its connection. */
  private interface Between {
    Object call(String method, Work work) throws Throwable;
  }

  private static Between at(int number, Break how) {
    var count = new AtomicInteger();
    return (method, work) -> {
      if (count.incrementAndGet() != number) {
        return work.run();
      }
      if (how == Break.AFTER) {
        work.run();
      }
      throw new SQLException("The connection is gone", "08006");
    };
  }

  /** The source with something between: it sees each statement that is prepared, and COMMIT. */
  private static DataSource breaking(Between between) {
    return (DataSource)
        Proxy.newProxyInstance(
            KillPointTest.class.getClassLoader(),
            new Class<?>[] {DataSource.class},
            (proxy, method, arguments) -> {
              var result = method.invoke(source, arguments);
              return result instanceof Connection connection
                  ? between(connection, between)
                  : result;
            });
  }

  private static Connection between(Connection connection, Between between) {
    return (Connection)
        Proxy.newProxyInstance(
            KillPointTest.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> {
              Work work =
                  () -> {
                    try {
                      return method.invoke(connection, arguments);
                    } catch (InvocationTargetException e) {
                      throw e.getCause();
                    }
                  };
              return switch (method.getName()) {
                case "prepareStatement", "commit" -> between.call(method.getName(), work);
                default -> work.run();
              };
            });
  }
}
