package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.Page;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.AddressableSessions;
import dev.sessionkeeper.spi.SessionView;
import dev.sessionkeeper.testkit.TestInRealTime;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;

/** Operators see since when a session is held, by the clock of the store. */
class HeldSinceTest extends ReadsAlone {
  /** The longest time until a cached hold is persisted. */
  private static final Duration WRITTEN_DOWN = Duration.ofSeconds(3);

  @TestInRealTime
  void aSessionThatWasTakenByNameTellsTheMoment() throws Exception {
    send(A, "1");
    var before = now();
    var held =
        ((AcceptResult.Accepted) ((AddressableSessions) other.sessions(queue)).accept(A, ME, SOON))
            .session();
    var after = now();

    assertThat(heldSince(other)).hasValueSatisfying(at -> assertThat(at).isBetween(before, after));
    held.renew();
    assertThat(heldSince(other)).hasValueSatisfying(at -> assertThat(at).isBetween(before, after));
    held.close();
    assertThat(heldSince(other)).isEmpty();
  }

  @TestInRealTime
  void aCarriedSessionTellsItToo() throws Exception {
    send(A, "1");
    var before = now();
    var held = take(reader, queue, ME);
    held.receive(1, SOON);
    assertThat(heldSince(reader))
        .hasValueSatisfying(at -> assertThat(at).isBetween(before, before.plus(WRITTEN_DOWN)));

    await().atMost(SOON).until(() -> lanes() == 1);
    assertThat(heldSince(other))
        .hasValueSatisfying(at -> assertThat(at).isBetween(before, before.plus(WRITTEN_DOWN)));
    held.close();
  }

  private Optional<Instant> heldSince(PostgresQueueProvider provider) {
    return provider.inspect(queue, Optional.empty(), Page.Request.first(1)).items().stream()
        .map(SessionView::heldSince)
        .flatMap(Optional::stream)
        .findFirst();
  }

  private Instant now() {
    long micros =
        count(
            """
            SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint FROM keeper.queue k WHERE k.name = ?
            """);
    return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
  }
}
