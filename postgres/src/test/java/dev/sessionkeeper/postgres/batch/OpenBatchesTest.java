package dev.sessionkeeper.postgres.batch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.SessionId;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The batches that a reader knows, and their completion records. */
class OpenBatchesTest {
  private static final SessionId A = SessionId.of("a");
  private static final SessionId B = SessionId.of("b");

  private final OpenBatches batches = new OpenBatches();

  private void read(long first, SessionId... sessions) {
    batches.add(List.of(new MessageBatch(first, sessions, 0, false)));
  }

  private CompletedMessages complete(SessionId session, long... sequences) {
    return batches.tellApart(
        List.of(new OfSession(session, List.of(sequences))), batches.nextRecord());
  }

  private record OfSession(SessionId session, List<long[]> done) implements Completions {}

  private static SessionId[] times(int count, SessionId session) {
    var all = new SessionId[count];
    Arrays.fill(all, session);
    return all;
  }

  @Test
  void aBundleThatHasMoreIsNotedAndOneThatHasNotGoes() {
    read(64, A, B);
    read(128, A);
    var completed = complete(A, 64, 128);
    assertThat(completed.incomplete.firsts()).containsExactly(64);
    assertThat(completed.incomplete.masks()).containsExactly(0b01);
    assertThat(completed.complete.firsts()).containsExactly(128);
    assertThat(completed.complete.masks()).containsExactly(0b1);
    batches.close(completed);

    var last = complete(B, 65);
    assertThat(last.complete.firsts()).containsExactly(64);
    assertThat(last.complete.masks()).as("what is new").containsExactly(0b10);
    batches.close(last);
    assertThat(batches.all()).isEmpty();
  }

  @Test
  void whatIsNotInABundleIsARow() {
    read(64, A, B);
    var completed = complete(A, 63, 64, 66);
    assertThat(completed.sequences).containsExactly(63L, 66L);
    assertThat(completed.incomplete.masks()).containsExactly(0b01);
  }

  /** The statement may have failed, so the message stays incomplete. */
  @Test
  void whatWasOnlyToldApartIsOpenStill() {
    read(64, A, B);
    complete(A, 64);
    var again = complete(A, 64);
    assertThat(again.incomplete.masks()).containsExactly(0b01);
    assertThat(again.over).isEmpty();
  }

  @Test
  void aNoteIsOverWhenItsLastBundleIsGone() {
    read(64, A, B);
    read(128, A, B);
    var noted = complete(A, 64, 128);
    batches.close(noted);
    batches.close(complete(B, 65));
    var last = complete(B, 129);
    assertThat(last.over).as("the other one needs it").isEmpty();
    batches.close(last);
    var after = complete(A);
    assertThat(after.over).containsExactly(noted.note);
    batches.close(after);
    assertThat(complete(A).over).as("it is deleted").isEmpty();
  }

  @Test
  void aBundleThatWaitsForLongIsToldWhatIsCompletedAndNeedsNoNotes() {
    var sessions = times(64, A);
    sessions[63] = B;
    read(64, sessions);
    read(128, sessions);
    for (int i = 0; i < 63; i++) {
      batches.close(complete(A, 64 + i));
    }
    batches.close(complete(A, 128));
    batches.close(complete(A, 129));
    var late = complete(A);
    assertThat(late.late.firsts()).containsExactly(64);
    assertThat(late.late.masks()).containsExactly(Long.MAX_VALUE);
    batches.close(late);
    var after = complete(B, 127);
    assertThat(after.over).as("all notes of the first bundle").hasSize(63);
    assertThat(after.late.firsts()).isEmpty();
    assertThat(after.complete.masks()).containsExactly(Long.MIN_VALUE);
  }

  /** The row's new bits lack those of a settlement that ends before the row was written. */
  @Test
  void aNoteThatIsNewerThanTheFoldedBitsStays() {
    var sessions = times(64, A);
    sessions[63] = B;
    read(64, sessions);
    read(128, times(64, A));
    for (int i = 0; i < 62; i++) {
      batches.close(complete(A, 64 + i));
    }
    for (int i = 0; i < 3; i++) {
      batches.close(complete(A, 128 + i));
    }
    var folding = complete(A, 131);
    assertThat(folding.late.masks()).containsExactly(Long.MAX_VALUE >>> 1);
    var newer = complete(A, 64 + 62);
    batches.close(newer);
    batches.close(folding);

    assertThat(complete(A).over).hasSize(62).doesNotContain(newer.note);
  }

  /**
   * The database unpacked the batch before the others were completed; this process learned of that
   * later.
   */
  @Test
  void aBundleWhoseRestBecameRowsMeanwhileGoesWithTheNextOne() {
    read(64, A, B);
    var completed = complete(A, 64);
    batches.becameRows(Set.of(B));
    batches.close(completed);
    assertThat(batches.all()).isEmpty();

    var next = complete(A);
    assertThat(next.complete.firsts()).containsExactly(64);
    assertThat(next.complete.masks()).as("nothing to count").containsExactly(0);
    assertThat(next.over).containsExactly(completed.note);
    batches.close(next);
    assertThat(complete(A).complete.firsts()).isEmpty();
  }
}
