package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.testkit.TestInRealTime;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;

/**
 * The statements of a reader, one by one. Their result does not depend on which messages of a batch
 * were unpacked, and is the same after a lost answer.
 */
class ReaderLooksTest extends ReadsAlone {
  private static final String NOTHING = "3:3:";

  private long queueId;

  @BeforeEach
  void findQueue() {
    queueId = count("SELECT k.id FROM keeper.queue k WHERE k.name = ?");
  }

  private void sendTogether(SessionId... sessions) {
    var messages = new ArrayList<Message>();
    for (var session : sessions) {
      messages.add(Message.of(session, Payload.text("x")));
    }
    reader.send(queue, messages);
  }

  @TestInRealTime
  void aPageDoesNotEndBetweenABundleAndItsFirstMessageThatBecameARow() throws Exception {
    sendTogether(B, B);
    sendTogether(A, B);
    var firsts = numbers("SELECT first_seq FROM keeper.bundle WHERE queue = %d ORDER BY 1");
    numbers("SELECT of_seq FROM keeper.untie(%d, ARRAY[" + firsts.get(1) + "], ARRAY['a'])");

    var found = new ArrayList<Long>();
    var after = List.of(0L);
    while (!after.isEmpty()) {
      var page =
          "keeper.next_page(%d, -1, '"
              + NOTHING
              + "', pg_current_snapshot(), "
              + after.get(0)
              + ", 1, 1000000, false) p";
      found.addAll(numbers("SELECT unnest(p.bundles) FROM " + page));
      after = numbers("SELECT p.upto FROM " + page + " WHERE p.upto IS NOT NULL");
    }

    assertThat(found).containsExactlyElementsOf(firsts);
  }

  @TestInRealTime
  void anAskMakesNoRowsOfOtherSessionsThatShareBundlesWithIt() throws Exception {
    sendTogether(A, B);
    sendTogether(B, B);
    sendTogether(A, B);
    var firsts = numbers("SELECT first_seq FROM keeper.bundle WHERE queue = %d ORDER BY 1");
    long epoch =
        numbers("SELECT my_epoch FROM keeper.become_reader(%d, 'test', 0, 0, false)").getFirst();
    long ask = numbers("SELECT ask_id FROM keeper.ask_reader(%d, 'a', false)").getFirst();

    // Session b is persisted with its cached messages, which are those of the first batch.
    numbers(
        "SELECT count(*) FROM keeper.write_down(%d, "
            + epoch
            + ", 'test', ARRAY['b'], ARRAY[0::bigint], ARRAY[''], ARRAY[0::bigint], ARRAY["
            + (firsts.get(0) + 1)
            + "], ARRAY["
            + firsts.get(0)
            + "], ARRAY["
            + ask
            + "], ARRAY['a'], '{}', 0, NULL, -1)");

    assertThat(
            numbers("SELECT seq FROM keeper.message WHERE queue = %d AND session = 'a' ORDER BY 1"))
        .containsExactly(firsts.get(0), firsts.get(2));
    assertThat(
            numbers("SELECT seq FROM keeper.message WHERE queue = %d AND session = 'b' ORDER BY 1"))
        .as("nothing that is younger than what was not read")
        .containsExactly(firsts.get(0) + 1);
  }

  @TestInRealTime
  void whatWasLetGoInALostAnswerIsToldAgain() throws Exception {
    long epoch =
        numbers("SELECT my_epoch FROM keeper.become_reader(%d, 'test', 0, 0, false)").getFirst();
    sendTogether(A, B);
    long first = numbers("SELECT first_seq FROM keeper.bundle WHERE queue = %d").getFirst();
    numbers(
        "SELECT count(*) FROM keeper.write_down(%d, "
            + epoch
            + ", 'test', ARRAY['a'], ARRAY[0::bigint], ARRAY[''], ARRAY[0::bigint], ARRAY["
            + first
            + "], ARRAY["
            + first
            + "], '{}', '{}', '{}', 0, NULL, -1)");
    assertThat(lanes()).isEqualTo(1);
    var known = texts("SELECT pg_current_snapshot()::text, %d").getFirst();

    assertThat(rowsToldTo(epoch, known, "NULL")).as("its lane is let go").containsExactly("a");
    assertThat(lanes()).isZero();
    assertThat(rowsToldTo(epoch, known, "NULL")).isEmpty();
    assertThat(rowsToldTo(epoch, known, "ARRAY['a']")).as("it arrived").isEmpty();
    assertThat(rowsToldTo(epoch, known, "'{}'")).as("the answer was lost").containsExactly("a");
  }

  private List<String> rowsToldTo(long epoch, String known, String carried) throws SQLException {
    return texts(
        "SELECT n.session FROM keeper.read_new(%d, "
            + epoch
            + ", '"
            + known
            + "', 0, NULL, 0, 100, 1000000, false, true, "
            + carried
            + ") n WHERE n.kind = 4");
  }

  private List<Long> numbers(String sql) throws SQLException {
    return texts(sql).stream().map(Long::valueOf).toList();
  }

  private List<String> texts(String sql) throws SQLException {
    try (var connection = database.pool().getConnection();
        var statement = connection.createStatement();
        var rows = statement.executeQuery(String.format(sql, queueId))) {
      var found = new ArrayList<String>();
      while (rows.next()) {
        found.add(rows.getString(1));
      }
      return found;
    }
  }
}
