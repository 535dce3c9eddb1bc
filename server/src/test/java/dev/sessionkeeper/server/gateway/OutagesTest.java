package dev.sessionkeeper.server.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.store.Migrations;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A server that takes a message over continues the retry schedule of the previous one. */
class OutagesTest {
  private static final MessageId MESSAGE = MessageId.of("m-1");
  private static Database database;

  @BeforeAll
  static void migrate() {
    var source = TestDatabase.create().source();
    for (var module : new String[] {"store", "queues", "gateway"}) {
      Migrations.apply(source, module);
    }
    database = Database.of(source);
  }

  private static Outages server(String queue) {
    var time = TimeSource.system();
    return new Outages(time, Optional.of(new OutageTable(database, QueueName.of(queue), time)));
  }

  @Test
  void theCountGoesOnOnAnotherServer() {
    var first = server("goes-on");
    first.again(MESSAGE);
    first.again(MESSAGE);
    var before = first.again(MESSAGE);
    assertThat(before.times()).isEqualTo(3);

    var second = server("goes-on");
    assertThat(second.postsOf(MESSAGE)).isEqualTo(3);
    var after = second.again(MESSAGE);
    assertThat(after.times()).isEqualTo(4);
    assertThat(after.lasted()).isGreaterThanOrEqualTo(before.lasted());
    assertThat(server("other").postsOf(MESSAGE)).isZero();
  }

  @Test
  void anAnswerEndsTheOutageAndKeepsTheNumberOfPosts() {
    var first = server("answers");
    first.again(MESSAGE);
    first.again(MESSAGE);
    first.answered(MESSAGE);

    var second = server("answers");
    assertThat(second.postsOf(MESSAGE)).isEqualTo(2);
    assertThat(second.again(MESSAGE).times()).isEqualTo(1);
    assertThat(second.postsOf(MESSAGE)).isEqualTo(3);
  }

  @Test
  void nothingIsLeftOfAMessageThatIsOver() {
    var first = server("over");
    first.again(MESSAGE);
    var second = server("over");
    assertThat(second.postsOf(MESSAGE)).isEqualTo(1);
    second.over(MESSAGE);

    assertThat(server("over").postsOf(MESSAGE)).isZero();
  }

  @Test
  void aServerLearnsOfOutagesThatBeganElsewhereAfterItLooked() {
    var second = server("later");
    assertThat(second.postsOf(MESSAGE)).isZero();
    server("later").again(MESSAGE);

    await().atMost(Duration.ofSeconds(20)).until(() -> second.postsOf(MESSAGE) == 1);
  }
}
