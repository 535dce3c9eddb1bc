package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.processor.SessionProcessor;
import dev.sessionkeeper.spi.DeadLetterQueues.Selection;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * All connections of the pool break at once, as when the database restarts. The pool does not test
 * a connection that was used a moment ago, so the next calls meet one broken connection after
 * another. Reads and sends must succeed all the same.
 */
@Execution(ExecutionMode.SAME_THREAD)
class BrokenConnectionsTest {
  private static final QueueName QUEUE = QueueName.of("broken");
  private static final int CONNECTIONS = 16;

  private static TestDatabase database;
  private static PostgresQueueProvider provider;

  @BeforeAll
  static void start() {
    database = TestDatabase.start();
    provider = PostgresQueueProvider.create(database.pool());
    provider.declare(QUEUE, QueueSettings.ordered());
  }

  @AfterAll
  static void stop() {
    provider.close();
    database.close();
  }

  static Stream<Named<Consumer<PostgresQueueProvider>>> calls() {
    var first = new Page.Request(10, Optional.empty());
    return Stream.of(
        Named.of("settings", it -> it.settings(QUEUE)),
        Named.of("queues", it -> it.queues()),
        Named.of("stats", it -> it.stats(QUEUE)),
        Named.of("inspect", it -> it.inspect(QUEUE, Optional.empty(), first)),
        Named.of("dead letters", it -> it.deadLetters(QUEUE, Optional.empty(), first)),
        Named.of("replayable", it -> it.countReplayable(QUEUE, new Selection.All())),
        Named.of(
            "send",
            it -> it.send(QUEUE, List.of(Message.of(SessionId.of("a"), Payload.text("x"))))),
        Named.of(
            "a processor",
            it ->
                SessionProcessor.builder(it, QUEUE, (delivery, session) -> Settlement.complete())
                    .build()
                    .start()
                    .close()));
  }

  @ParameterizedTest
  @MethodSource("calls")
  void isNotNoticed(Consumer<PostgresQueueProvider> call) throws SQLException {
    database.pool().getHikariPoolMXBean().softEvictConnections();
    useManyConnections();
    assertThat(database.cutConnections()).isGreaterThanOrEqualTo(CONNECTIONS);

    assertThatCode(() -> call.accept(provider)).doesNotThrowAnyException();
  }

  private static void useManyConnections() throws SQLException {
    var open = new ArrayList<Connection>();
    try {
      for (int i = 0; i < CONNECTIONS; i++) {
        var connection = database.pool().getConnection();
        open.add(connection);
        try (var statement = connection.createStatement()) {
          statement.execute("SELECT FROM keeper.queue");
        }
      }
    } finally {
      for (var connection : open) {
        connection.close();
      }
    }
  }
}
