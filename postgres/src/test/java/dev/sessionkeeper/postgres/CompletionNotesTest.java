package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.testkit.TestInRealTime;
import java.util.ArrayList;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * A reader records which messages of incomplete batches are completed, and does not rewrite the
 * batches.
 */
class CompletionNotesTest extends ReadsAlone {
  private static final SessionId SLOW = SessionId.of("slow");

  private void send(int quick) {
    var messages = new ArrayList<Message>();
    messages.add(Message.of(SLOW, Payload.text("slow")));
    for (int i = 0; i < quick; i++) {
      messages.add(Message.of(A, Payload.text(String.valueOf(i))));
    }
    reader.send(queue, messages);
  }

  private long notes() {
    return database.count("completion", queue);
  }

  private long completedInBundles() {
    return count(
        """
        SELECT COALESCE(sum(bit_count(b.done::bit(64))), 0) FROM keeper.bundle b
          JOIN keeper.queue k ON k.id = b.queue WHERE k.name = ?
        """);
  }

  @TestInRealTime
  void notesAreFewHoweverLongAMessageWaits() throws Exception {
    send(63 + 64 + 64);
    var slow = take(reader, queue, ME);
    try (var quick = take(reader, queue, ME)) {
      complete(quick, quick.receive(1, SOON).get(0).sequence());
      assertThat(notes()).isEqualTo(1);
      assertThat(completedInBundles()).as("the bundle itself is not written again").isZero();
      for (int i = 1; i < 63 + 64 + 64; i++) {
        complete(quick, quick.receive(1, SOON).get(0).sequence());
      }
      assertThat(notes()).isLessThanOrEqualTo(66);
      assertThat(completedInBundles()).as("it waits for the slow one").isEqualTo(63);
    }
    assertThat(database.count("bundle", queue)).isEqualTo(1);
    assertThat(reader.stats(queue).depth()).isEqualTo(1);
    complete(slow, slow.receive(1, SOON).get(0).sequence());
    slow.close();
    assertThat(database.count("bundle", queue)).isZero();
    assertThat(reader.stats(queue).depth()).isZero();
    reader.close();
    assertThat(notes()).as("nobody reads alone").isZero();
  }

  @TestInRealTime
  void othersSeeWhatIsLeft() throws Exception {
    send(5);
    var slow = take(reader, queue, ME);
    var quick = take(reader, queue, ME);
    for (int i = 0; i < 3; i++) {
      complete(quick, quick.receive(1, SOON).get(0).sequence());
    }
    assertThat(database.count("waiting_message", queue)).isEqualTo(3);
    var views = other.inspect(queue, Optional.empty(), Page.Request.first(10));
    assertThat(views.items())
        .filteredOn(view -> view.id().equals(A))
        .allMatch(view -> view.backlog() == 2);
    quick.close();
    slow.close();
  }

  /**
   * A settlement whose answer was lost is repeated, when its record may have been merged already.
   */
  @Test
  void whatIsRepeatedIsCountedOnce() throws Exception {
    send(2);
    take(reader, queue, ME);
    assertThat(readers()).isEqualTo(1);
    String complete =
        """
        WITH done AS MATERIALIZED (
          SELECT keeper.complete_bundled(b.queue, r.epoch, %d, ARRAY[b.first_seq], ARRAY[%d::bigint], '{}', '{}',
                                         '{}', '{}', %b, 0)
            FROM keeper.bundle b JOIN keeper.queue k ON k.id = b.queue JOIN keeper.reader r ON r.queue = k.id WHERE k.name = ?)
        SELECT count(*) FROM done
        """;
    count(complete.formatted(1, 0b010, false));
    assertThat(reader.stats(queue).depth()).isEqualTo(2);
    count(complete.formatted(1, 0b010, true));
    count(complete.formatted(2, 0b010, true));
    assertThat(reader.stats(queue).depth()).isEqualTo(2);
    count(
        """
        WITH folded AS MATERIALIZED (SELECT keeper.fold_notes(k.id, NULL) FROM keeper.queue k WHERE k.name = ?)
        SELECT count(*) FROM folded
        """);
    assertThat(completedInBundles()).isEqualTo(1);
    count(complete.formatted(3, 0b110, true));
    assertThat(reader.stats(queue).depth()).as("one of the two is new").isEqualTo(1);
  }
}
