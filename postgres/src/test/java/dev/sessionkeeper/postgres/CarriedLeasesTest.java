package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.Owner;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.testkit.TestInRealTime;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** The lease of a cached session never ends after that of the reader. */
class CarriedLeasesTest extends ReadsAlone {
  private static final Duration LOCK = Duration.ofSeconds(3);
  private final ShiftedTime time = new ShiftedTime();

  /** Just before a renewal, the remaining lease of the reader is shortest. */
  @TestInRealTime
  void aLeaseThatIsToldEndsNoLaterThanTheOneInTheStore() throws Exception {
    try (var provider = startReading()) {
      for (int i = 0; i < 20; i++) {
        var session = SessionId.of("s-" + i);
        send(session, "1");
        var held = take(provider, queue, ME);
        var told = held.lease().until();
        assertThat(told).isBeforeOrEqualTo(storedEnd());
        assertThat(held.takenFor(LOCK)).isLessThanOrEqualTo(LOCK);
        assertThat(held.takenFor(LOCK)).isGreaterThanOrEqualTo(LOCK.dividedBy(2));
        complete(held, held.receive(1, SOON).get(0).sequence());
        held.close();
        time.forward(Duration.ofMillis(80));
      }
    }
  }

  @TestInRealTime
  void aLeaseThatIsWrittenDownEndsNoSoonerThanItWasTold() throws Exception {
    try (var provider = startReading()) {
      send(A, "1");
      var held = take(provider, queue, ME);
      var told = held.lease().until();
      held.receive(1, SOON);
      await().atMost(SOON).until(() -> lanes() == 1);

      assertThat(laneEnd()).isAfterOrEqualTo(told.truncatedTo(ChronoUnit.MILLIS));
      await().atMost(SOON).until(() -> !held.lease().until().isBefore(told));
      held.close();
    }
  }

  /** The database does not answer, so the reader cannot know whether it still has its lease. */
  @TestInRealTime
  void nothingIsHandedOutWhenLittleIsLeftOfTheReadersLease() throws Exception {
    try (var provider = startReading()) {
      send(A, "1");
      send(B, "1");
      var held = take(provider, queue, ME);
      var ordered = (OrderedQueue) provider.sessions(queue);
      await().atMost(SOON).until(() -> ordered.reader().hasReady());
      time.forward(LOCK.dividedBy(2).plusMillis(1));

      assertThat(ordered.reader().take(Owner.of("early"))).isNull();
      assertThat(ordered.acceptNext(OTHER, SOON))
          .as("a round extends the lease first")
          .isInstanceOf(AcceptResult.Accepted.class);
      held.close();
    }
  }

  private PostgresQueueProvider startReading() throws Exception {
    var provider =
        PostgresQueueProvider.create(
            database.pool(), PostgresOptions.ofDefaults().withCarryFrom(0), time);
    send(A, "first");
    HeldSession held = take(provider, queue, ME);
    complete(held, held.receive(1, SOON).get(0).sequence());
    held.close();
    assertThat(readers()).isEqualTo(1);
    return provider;
  }

  private Instant storedEnd() {
    return instant("SELECT (extract(epoch FROM r.until) * 1000000)::bigint FROM keeper.reader r");
  }

  private Instant laneEnd() {
    return instant("SELECT (extract(epoch FROM r.until) * 1000000)::bigint FROM keeper.lane r");
  }

  private Instant instant(String select) {
    long micros = count(select + " JOIN keeper.queue k ON k.id = r.queue WHERE k.name = ?");
    return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
  }

  /**
   * Fails if a hold assumes that each renewal lasts only as long as its first lease: the hold then
   * delivers nothing.
   */
  @TestInRealTime
  void aHoldThatWasWrittenDownHandsOutUntilTheEndOfItsRenewedLease() throws Exception {
    reader.declare(queue, QueueSettings.ordered().withLockDuration(Duration.ofSeconds(60)));
    var options = PostgresOptions.ofDefaults().withCarryFrom(0);
    try (var consumer = PostgresQueueProvider.create(database.pool(), options, time)) {
      send(A, "1");
      var held = take(consumer, queue, ME);
      complete(held, held.receive(1, SOON).get(0).sequence());
      held.renew();
      assertThat(lanes()).isEqualTo(1);
      time.forward(Duration.ofSeconds(15));
      send(A, "2");
      var received =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return receive(held);
                } catch (InterruptedException e) {
                  throw new IllegalStateException(e);
                }
              });
      assertThat(received.get(10, TimeUnit.SECONDS)).isEqualTo("2");
      held.close();
    }
  }
}
