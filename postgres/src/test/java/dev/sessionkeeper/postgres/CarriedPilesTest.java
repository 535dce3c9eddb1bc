package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.postgres.row.RowKind;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.HeldSession.Settled;
import dev.sessionkeeper.testkit.TestInRealTime;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/** A reader with a backlog that does not fit into memory. */
class CarriedPilesTest extends ReadsAlone {

  @TestInRealTime
  void moreThanFitsIntoMemoryIsReadBitByBit() throws Exception {
    reader.send(queue, List.of(Message.of(A, Payload.bytes(new byte[250_000], "x"))));
    var held = take(reader, queue, ME);
    complete(held, held.receive(1, SOON).get(0).sequence());
    // After one so large only some hundred are expected to fit.
    reader.send(
        queue, IntStream.range(0, 400).mapToObj(i -> Message.of(A, Payload.text("" + i))).toList());

    var received = new ArrayList<String>();
    while (received.size() < 400) {
      var some = held.receive(50, SOON);
      some.forEach(delivery -> received.add(delivery.payload().asText()));
      held.settle(
              some.stream()
                  .map(delivery -> new Settled(delivery.sequence(), Settlement.complete()))
                  .toList())
          .toCompletableFuture()
          .get();
    }
    assertThat(received)
        .containsExactlyElementsOf(IntStream.range(0, 400).mapToObj(i -> "" + i).toList());
    assertThat(readers()).isEqualTo(1);
    held.close();
  }

  @TestInRealTime
  void whatHadPiledUpIsReadInOrderAndGetsNoLanes() throws Exception {
    var late = SessionId.of("late");
    for (int batch = 0; batch < 6; batch++) {
      int first = batch * 1000;
      reader.send(
          queue,
          IntStream.range(first, first + 1000)
              .mapToObj(i -> Message.of(SessionId.of("s" + i % 30), Payload.text("" + i)))
              .toList());
    }
    send(late, "before");

    var seen = new HashMap<SessionId, List<String>>();
    int count = 0;
    try (var first = take(other, queue, OTHER)) {
      assertThat(first.id()).isEqualTo(SessionId.of("s0"));
      assertThat(lanes()).isZero();
      assertThat(readers()).isEqualTo(1);
      // The older messages were not read yet; this one must not overtake them.
      send(late, "after");
      count += handle(first, seen);
    }
    while (count < 6002) {
      try (var held = take(other, queue, OTHER)) {
        count += handle(held, seen);
      }
    }
    assertThat(seen.remove(late)).containsExactly("before", "after");
    assertThat(seen).hasSize(30);
    for (int session = 0; session < 30; session++) {
      int of = session;
      assertThat(seen.get(SessionId.of("s" + session)))
          .containsExactlyElementsOf(
              IntStream.range(0, 200).mapToObj(i -> "" + (i * 30 + of)).toList());
    }
  }

  private static int handle(HeldSession held, Map<SessionId, List<String>> seen) throws Exception {
    int count = 0;
    for (var batch = held.receive(50, Duration.ZERO);
        !batch.isEmpty();
        batch = held.receive(50, Duration.ZERO)) {
      var settled = new ArrayList<Settled>();
      for (var delivery : batch) {
        seen.computeIfAbsent(held.id(), id -> new ArrayList<>()).add(delivery.payload().asText());
        settled.add(new Settled(delivery.sequence(), Settlement.complete()));
      }
      held.settle(settled).toCompletableFuture().get();
      count += batch.size();
    }
    return count;
  }

  @TestInRealTime
  void theInspectorShowsSessionsThatHaveNotBeenReadYet() throws Exception {
    var all = new ArrayList<Message>();
    for (int i = 0; i < 40; i++) {
      all.add(Message.of(SessionId.of("s" + (10 + i)), Payload.text("x")));
    }
    var options = PostgresOptions.ofDefaults().withCarryFrom(0).withPage(2);
    try (var inPages = PostgresQueueProvider.create(database.pool(), options)) {
      inPages.send(queue, all);
      var first = take(inPages, queue, ME);
      assertThat(first.id()).isEqualTo(SessionId.of("s10"));

      var shown = inPages.inspect(queue, Optional.empty(), Page.Request.first(100)).items();
      assertThat(shown).hasSize(40);
      first.close();
    }
  }

  @TestInRealTime
  void aPageIsBoundedByItsBytesToo() throws Exception {
    for (int i = 0; i < 10; i++) {
      reader.send(queue, List.of(Message.of(A, Payload.bytes(new byte[1000], "x"))));
    }
    var all = page(100, 1_000_000, 0);
    assertThat(all.messages).hasSize(10);
    assertThat(all.upTo).isZero();

    var part = page(100, 3_500, 0);
    assertThat(part.messages).containsExactlyElementsOf(all.messages.subList(0, 3));
    assertThat(part.upTo).isEqualTo(all.messages.get(2));
    assertThat(page(4, 1_000_000, part.upTo).messages)
        .containsExactlyElementsOf(all.messages.subList(3, 7));
    assertThat(page(100, 10, all.messages.get(8)).messages)
        .as("one at least, however large")
        .containsExactly(all.messages.get(9));
  }

  /** A sender may draw a sequence number after the reader has read the last one. */
  @TestInRealTime
  void aNumberThatIsDrawnMeanwhileBelongsToThePage() throws Exception {
    send(A, "1");
    send(A, "2");
    count(
        """
        WITH later AS (UPDATE keeper.bundle b SET first_seq = b.first_seq + 1000000, last_seq = b.last_seq + 1000000
                         FROM keeper.queue k
                        WHERE k.id = b.queue AND k.name = ? AND b.bodies[1] = '2'::bytea RETURNING 1)
        SELECT count(*) FROM later
        """);
    assertThat(page(100, 1_000_000, 0).messages).hasSize(2);
  }

  private record Read(List<Long> messages, long upTo) {}

  private Read page(int most, long mostBytes, long after) throws SQLException {
    try (var connection = database.pool().getConnection();
        var become =
            connection.prepareStatement(
                "SELECT b.* FROM keeper.queue k, keeper.become_reader(k.id, 'test', 0, 0, false) b WHERE k.name = ?");
        var read =
            connection.prepareStatement(
                """
                SELECT n.kind, n.seq
                  FROM keeper.queue k, keeper.reader r,
                       keeper.read_new(k.id, r.epoch, '1:1:', 0, pg_current_snapshot()::text, ?, ?, ?, true, false, NULL) n
                 WHERE k.name = ? AND r.queue = k.id
                """)) {
      become.setString(1, queue.value());
      become.execute();
      read.setLong(1, after);
      read.setInt(2, most);
      read.setLong(3, mostBytes);
      read.setString(4, queue.value());
      var messages = new ArrayList<Long>();
      long upTo = 0;
      try (var rows = read.executeQuery()) {
        while (rows.next()) {
          if (rows.getInt(1) == RowKind.BATCH.ordinal()) {
            messages.add(rows.getLong(2));
          } else if (rows.getInt(1) == RowKind.SNAPSHOT.ordinal()) {
            upTo = rows.getLong(2);
          }
        }
      }
      return new Read(messages, upTo);
    }
  }
}
