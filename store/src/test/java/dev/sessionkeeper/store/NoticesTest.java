package dev.sessionkeeper.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.embedded.EmbeddedPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

@Tag("slow")
class NoticesTest {
  private static EmbeddedPostgres postgres;

  @BeforeAll
  static void start() {
    postgres = EmbeddedPostgres.temporaryWithoutSync();
  }

  @AfterAll
  static void stop() {
    postgres.close();
  }

  private static final class Heard implements Notices.Ear {
    final List<String> payloads = new CopyOnWriteArrayList<>();
    final AtomicInteger everything = new AtomicInteger();

    @Override
    public void heard(String payload) {
      payloads.add(payload);
    }

    @Override
    public void everything() {
      everything.incrementAndGet();
    }
  }

  private static Notices notices() {
    return Notices.over(postgres.dataSource(), postgres.dataSource());
  }

  @Test
  void whatOneProcessTellsTheOtherHears() {
    try (var one = notices();
        var other = notices()) {
      var heard = new Heard();
      other.listen("news", heard);
      await().until(() -> heard.everything.get() == 1);
      one.tell("news", "a");
      one.tell("unheard", "b");
      one.tell("news", "c");
      await().until(() -> heard.payloads.size() == 2);
      assertThat(heard.payloads).containsExactly("a", "c");
    }
  }

  @Test
  void oneConnectionHearsSeveralChannelsAlsoLaterOnes() {
    try (var notices = notices()) {
      var first = new Heard();
      var second = new Heard();
      notices.listen("first", first);
      await().until(() -> first.everything.get() == 1);
      notices.listen("second", second);
      await().until(() -> second.everything.get() == 1);
      notices.tell("first", "1");
      notices.tell("second", "2");
      await().until(() -> first.payloads.size() + second.payloads.size() == 2);
      assertThat(second.payloads).containsExactly("2");
      assertThat(listeners()).isEqualTo(1);
    }
  }

  /** The sending thread is busy with a notification that fails. */
  @Test
  void whatIsToldWhileAnotherNoticeFailsIsHeardAllTheSame() throws Exception {
    var isAsked = new CountDownLatch(1);
    var mayFail = new CountDownLatch(1);
    var source =
        new PGSimpleDataSource() {
          private static final long serialVersionUID = 1;
          private final AtomicInteger asked = new AtomicInteger();

          @Override
          public Connection getConnection() throws SQLException {
            if (asked.getAndIncrement() == 0) {
              isAsked.countDown();
              awaitQuietly(mayFail);
              throw new SQLException("not yet", "08001");
            }
            return postgres.dataSource().getConnection();
          }
        };
    try (var one = Notices.over(source, source);
        var other = notices()) {
      var heard = new Heard();
      other.listen("late", heard);
      await().until(() -> heard.everything.get() == 1);
      one.tell("late", "fails");
      isAsked.await();
      one.tell("late", "comes meanwhile");
      mayFail.countDown();
      await().until(() -> heard.payloads.contains("comes meanwhile"));
    }
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void aBrokenConnectionIsReplacedAndSaysThatSomethingMayBeMissing() {
    try (var notices = notices()) {
      var heard = new Heard();
      notices.listen("broken", heard);
      await().until(() -> heard.everything.get() == 1);
      Database.of(postgres.dataSource())
          .withConnection(
              connection -> {
                try (var statement = connection.createStatement()) {
                  return statement.execute(
                      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN %'");
                }
              });
      await().until(() -> heard.everything.get() >= 2);
      notices.tell("broken", "again");
      await().until(() -> heard.payloads.contains("again"));
    }
  }

  @Test
  void aForgottenChannelIsHeardNoMoreAndMayGetAnotherEar() {
    try (var notices = notices()) {
      var former = new Heard();
      notices.listen("turns", former);
      await().until(() -> former.everything.get() == 1);
      assertThatThrownBy(() -> notices.listen("turns", new Heard()))
          .isInstanceOf(IllegalArgumentException.class);
      notices.forget("turns");
      var next = new Heard();
      notices.listen("turns", next);
      notices.tell("turns", "x");
      await().until(() -> next.payloads.contains("x"));
      assertThat(former.payloads).isEmpty();
    }
  }

  @Test
  void closingGivesTheConnectionBack() {
    var notices = notices();
    var heard = new Heard();
    notices.listen("closing", heard);
    await().until(() -> heard.everything.get() == 1);
    notices.close();
    await().until(() -> listeners() == 0);
  }

  private static int listeners() {
    return Database.of(postgres.dataSource())
        .withConnection(
            connection -> {
              try (var statement = connection.createStatement();
                  var rows =
                      statement.executeQuery(
                          "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN %'")) {
                rows.next();
                return rows.getInt(1);
              }
            });
  }
}
