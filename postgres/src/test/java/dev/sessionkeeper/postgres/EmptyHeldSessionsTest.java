package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.AddressableSessions;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.testkit.TestInRealTime;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * A held session without messages must differ from a lost one, however many messages other sessions
 * have. A statement that fetches for many sessions sends a limited number of bytes. Once the limit
 * was reached, it left out held sessions without messages. Their owner then believed that they were
 * lost, and no consumer got them until the lease in the database ended.
 */
class EmptyHeldSessionsTest extends ReadsAlone {
  private static final int MANY = 100;

  @TestInRealTime
  void aFetchTellsOfAHeldSessionWithoutMessagesBehindALargeOne() throws Exception {
    var large = SessionId.of("a-large");
    var empty = SessionId.of("b-empty");
    send(empty, "1");
    var first = hold(empty);
    complete(first, first.receive(1, SOON).get(0).sequence());
    for (int i = 0; i < MANY; i++) {
      other.send(queue, List.of(Message.of(large, Payload.text("x".repeat(1024)))));
    }
    var second = hold(large);

    assertThat(heldByFetch(large, second.lease().epoch(), empty, first.lease().epoch()))
        .contains(large.value(), empty.value());
    first.close();
    second.close();
  }

  private HeldSession hold(SessionId session) throws InterruptedException {
    var sessions = (AddressableSessions) other.sessions(queue);
    var held = ((AcceptResult.Accepted) sessions.accept(session, ME, SOON)).session();
    held.renew();
    return held;
  }

  /** Returns the sessions that are held, according to one fetch for both. */
  private List<String> heldByFetch(
      SessionId one, long epochOfOne, SessionId other, long epochOfOther) throws SQLException {
    var sql =
        "SELECT f.* FROM keeper.queue k, keeper.fetch_lanes(k.id, ARRAY[?, ?], ARRAY[?::bigint, ?], ARRAY[200, 16]) f WHERE k.name = ?";
    try (var connection = database.pool().getConnection();
        var statement = connection.prepareStatement(sql)) {
      statement.setString(1, one.value());
      statement.setString(2, other.value());
      statement.setLong(3, epochOfOne);
      statement.setLong(4, epochOfOther);
      statement.setString(5, queue.value());
      try (var rows = statement.executeQuery()) {
        var held = new ArrayList<String>();
        while (rows.next()) {
          if (rows.getInt(1) == 1) {
            held.add(rows.getString(2));
          }
        }
        return held;
      }
    }
  }
}
