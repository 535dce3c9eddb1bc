package dev.sessionkeeper.cursors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.cursors.EventTracker.Recorded;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class EventTrackerTest {
  private static final CursorKey ANN = new CursorKey("orders", "ann");

  private final StandingWriter given = new StandingWriter();
  private final Cursors cursors = Cursors.of(given.store, given.writer, given.clock);

  @Test
  void aSubscriberThatNeverAcknowledgedHasNoPosition() {
    assertThat(cursors.position(ANN)).isEmpty();
  }

  @Test
  void acknowledgedEventsMoveTheStoredCursor() {
    var tracker = cursors.track(ANN, 0);
    for (long event = 1; event <= 20; event++) {
      assertThat(tracker.acknowledge(event)).isEqualTo(Recorded.NEW);
    }
    given.advance(50);
    assertThat(given.store.stored("orders/ann")).isEqualTo(20);
    assertThat(given.store.writes).as("20 events, one write").isEqualTo(1);
    assertThat(cursors.position(ANN)).hasValue(20);
  }

  @Test
  void whatIsNotWrittenYetCountsInThisProcess() {
    cursors.track(ANN, 0).acknowledge(1);
    assertThat(given.store.stored("orders/ann")).isZero();
    assertThat(cursors.position(ANN)).hasValue(1);
  }

  @Test
  void duplicatesChangeNothing() {
    var tracker = cursors.track(ANN, 5);
    assertThat(tracker.acknowledge(5)).isEqualTo(Recorded.DUPLICATE);
    assertThat(tracker.acknowledge(7)).isEqualTo(Recorded.NEW);
    assertThat(tracker.acknowledge(7)).isEqualTo(Recorded.DUPLICATE);
    assertThat(given.writer.metrics().submitted()).isZero();
  }

  @Test
  void theCursorWaitsForAMissingEvent() {
    var tracker = cursors.track(ANN, 0);
    tracker.acknowledge(1);
    tracker.acknowledge(3);
    tracker.acknowledge(4);
    assertThat(tracker.resumePoint()).isEqualTo(1);
    tracker.acknowledge(2);
    assertThat(tracker.resumePoint()).isEqualTo(4);
  }

  @Test
  void eventsFarAheadOfAMissingOneAreNotRemembered() {
    var tracker = cursors.track(ANN, 0);
    assertThat(tracker.acknowledge(EventTracker.WINDOW + 1)).isEqualTo(Recorded.TOO_FAR_AHEAD);
    assertThat(tracker.acknowledge(EventTracker.WINDOW)).isEqualTo(Recorded.NEW);
  }

  @Test
  void eventsThatAreGoneAreSkipped() {
    var tracker = cursors.track(ANN, 0);
    tracker.acknowledge(8);
    tracker.acknowledgeUpTo(7);
    assertThat(tracker.resumePoint()).isEqualTo(8);
    tracker.acknowledgeUpTo(3);
    assertThat(tracker.resumePoint()).isEqualTo(8);
  }

  @Test
  void twoConnectionsOfOneSubscriberNeverMoveItBack() {
    var old = cursors.track(ANN, 0);
    cursors.track(ANN, 90).acknowledgeUpTo(100);
    given.advance(50);
    old.acknowledge(1);
    given.advance(50);
    assertThat(given.store.stored("orders/ann")).isEqualTo(100);
  }

  @Test
  void theLastEventIsSavedWhenTheWriterHasRoomAgainWithoutALaterEvent() {
    given.store.down = true;
    for (int i = 0; i < 5; i++) {
      given.submit("other" + i, 1);
    }
    given.advance(5);
    cursors.track(ANN, 0).acknowledge(1);
    assertThat(given.writer.metrics().rejected()).isEqualTo(1);
    given.store.down = false;
    await()
        .until(
            () -> {
              given.clock.advance(Duration.ofMillis(100));
              return given.store.stored("orders/ann") == 1;
            });
  }

  @Test
  void theCursorNeverRunsAheadOfWhatWasAcknowledged() {
    var tracker = cursors.track(ANN, 10);
    // The event was delivered, but the process dies before the acknowledgement: the tracker is not
    // called.
    given.advance(60_000);
    assertThat(cursors.position(ANN)).isEmpty();
    tracker.acknowledge(12);
    given.advance(60_000);
    assertThat(cursors.position(ANN)).as("11 is open, so 12 comes again as well").isEmpty();
    tracker.acknowledge(11);
    given.advance(60_000);
    assertThat(cursors.position(ANN)).hasValue(12);
  }

  @Test
  void theWriterClosesWhileTrackersAreAlive() {
    var tracker = cursors.track(ANN, 0);
    tracker.acknowledge(1);
    assertThat(given.writer.close(Duration.ofSeconds(20)).isComplete()).isTrue();
    assertThat(given.store.stored("orders/ann")).isEqualTo(1);
    tracker.acknowledge(2);
    assertThat(given.store.stored("orders/ann")).isEqualTo(1);
  }

  @Test
  void namesAreChecked() {
    assertThatThrownBy(() -> new CursorKey("a/b", "ann")).hasMessageStartingWith("stream must be");
    assertThatThrownBy(() -> new CursorKey("a", "")).hasMessageStartingWith("subscriber must be");
  }
}
