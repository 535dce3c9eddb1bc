package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.Page;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.SessionStatus;
import dev.sessionkeeper.spi.SessionView;
import dev.sessionkeeper.testkit.TestInRealTime;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Inspecting changes nothing: neither the reader nor the tables. */
class InspectWhileReadingTest extends ReadsAlone {

  @TestInRealTime
  void heldAndWaitingSessionsAreShownFromMemoryAndBundles() throws Exception {
    send(A, "1");
    send(A, "2");
    send(B, "1");
    var held = take(reader, queue, ME);
    assertThat(receive(held)).isEqualTo("1");

    var all = look(Optional.empty());
    assertThat(all).extracting(SessionView::id).containsExactly(A, B);
    assertThat(all.get(0).status()).isEqualTo(SessionStatus.HELD);
    assertThat(all.get(0).owner()).contains(ME);
    assertThat(all.get(0).epoch()).isEqualTo(held.lease().epoch());
    assertThat(all.get(0).lockedUntil()).contains(held.lease().until());
    assertThat(all.get(0).backlog()).isEqualTo(2);
    assertThat(all.get(0).attempts()).isEqualTo(1);
    assertThat(all.get(1).status()).isEqualTo(SessionStatus.READY);
    assertThat(look(Optional.of(SessionStatus.HELD))).extracting(SessionView::id).containsOnly(A);
    assertThat(look(Optional.of(SessionStatus.READY))).extracting(SessionView::id).containsOnly(B);
    assertThat(look(Optional.of(SessionStatus.PARKED))).isEmpty();

    assertThat(reader.stats(queue).depth()).isEqualTo(3);
    assertThat(readers()).as("it reads alone still").isEqualTo(1);
    assertThat(lanes()).as("nothing was written down").isZero();
    held.close();
  }

  @TestInRealTime
  void aHeldSessionWithoutMessagesIsShownToo() throws Exception {
    send(A, "1");
    var held = take(reader, queue, ME);
    complete(held, held.receive(1, SOON).get(0).sequence());

    var all = look(Optional.empty());
    assertThat(all).extracting(SessionView::id).containsExactly(A);
    assertThat(all.get(0).status()).isEqualTo(SessionStatus.HELD);
    assertThat(all.get(0).backlog()).isZero();
    held.close();
    assertThat(look(Optional.empty())).isEmpty();
  }

  @TestInRealTime
  void pagesMeetEverySessionOnce() throws Exception {
    for (int i = 0; i < 30; i++) {
      send(SessionId.of("s" + (10 + i)), "1");
    }
    var held = List.of(take(reader, queue, ME), take(reader, queue, ME), take(reader, queue, ME));
    var seen = new ArrayList<SessionId>();
    var page = reader.inspect(queue, Optional.empty(), Page.Request.first(7));
    page.items().forEach(view -> seen.add(view.id()));
    while (page.next().isPresent()) {
      page = reader.inspect(queue, Optional.empty(), new Page.Request(7, page.next()));
      page.items().forEach(view -> seen.add(view.id()));
    }
    assertThat(seen).hasSize(30).doesNotHaveDuplicates().isSorted();
    held.forEach(one -> one.close());
  }

  /** Backlogs are counted for the sessions of a page, not for all of them. */
  @Test
  void aPageOfManySessionsComesSoon() throws SQLException {
    fill(20_000);
    long began = System.nanoTime();
    var page = other.inspect(queue, Optional.empty(), Page.Request.first(50));
    var took = Duration.ofNanos(System.nanoTime() - began);

    assertThat(page.items()).hasSize(50).allMatch(view -> view.backlog() == 5);
    assertThat(took).isLessThan(Duration.ofSeconds(3));
  }

  /** Creates parked sessions, and batches with five messages of each. */
  private void fill(int sessions) throws SQLException {
    try (var connection = database.pool().getConnection();
        var lanes =
            connection.prepareStatement(
                """
                INSERT INTO keeper.lane (queue, session, status, aside, place, reason, since)
                SELECT k.id, 's' || n, 3, 3, n, 'test', clock_timestamp()
                  FROM keeper.queue k, generate_series(0, ? - 1) n WHERE k.name = ?
                """);
        var batches =
            connection.prepareStatement(
                """
                INSERT INTO keeper.bundle (queue, first_seq, last_seq, members, bytes, enqueued_at, expires_at, sessions, ids,
                                           forms, types, bodies)
                SELECT k.id, f.first, f.first + 49, (1::bigint << 50) - 1, 50, clock_timestamp(),
                       clock_timestamp() + interval '1 day',
                       ARRAY(SELECT 's' || (b * 50 + i) % ? FROM generate_series(0, 49) i),
                       ARRAY(SELECT 'm' || (b * 50 + i) FROM generate_series(0, 49) i), ARRAY[0], ARRAY['text/plain'],
                       ARRAY(SELECT 'x'::bytea FROM generate_series(0, 49) i)
                  FROM keeper.queue k, generate_series(0, ? * 5 / 50 - 1) b,
                       LATERAL (SELECT nextval('keeper.message_seq') + 0 * b AS first) f
                 WHERE k.name = ?
                """)) {
      lanes.setInt(1, sessions);
      lanes.setString(2, queue.value());
      lanes.executeUpdate();
      batches.setInt(1, sessions);
      batches.setInt(2, sessions);
      batches.setString(3, queue.value());
      batches.executeUpdate();
    }
  }

  private List<SessionView> look(Optional<SessionStatus> status) {
    return reader.inspect(queue, status, Page.Request.first(10)).items();
  }
}
