package dev.sessionkeeper.server.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.Page;
import dev.sessionkeeper.server.http.RequestListener;
import dev.sessionkeeper.store.Actor;
import dev.sessionkeeper.store.AuditLog.Filter;
import dev.sessionkeeper.store.AuditLog.Row;
import dev.sessionkeeper.testkit.SettableClock;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class AuditRefusalsTest {
  private static final Actor MALLORY = new Actor("mallory", "203.0.113.7");
  private static final Filter ALL =
      new Filter(
          Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());

  private final SettableClock time = SettableClock.create();
  private final MemoryAuditLog audit = new MemoryAuditLog(time);
  private final AuditRefusals refusals = new AuditRefusals(audit, time, RequestListener.none());

  private List<Row> rows() {
    return audit.read(ALL, new Page.Request(1_000, Optional.empty())).items();
  }

  private void awaitRows(int count) {
    await().untilAsserted(() -> assertThat(rows()).hasSize(count));
  }

  @Test
  void theFirstRefusalHasARowAtOnceAndTheOthersShareOneAMinute() {
    for (int i = 0; i < 1_000; i++) {
      refusals.refused(MALLORY, "GET /queues", 403);
    }
    awaitRows(1);
    assertThat(rows().getFirst().entry().count()).isEqualTo(1);
    assertThat(rows().getFirst().entry().actor()).isEqualTo(MALLORY);
    assertThat(rows().getFirst().entry().target()).isEqualTo("GET /queues");

    time.advance(AuditRefusals.WINDOW);
    awaitRows(2);
    assertThat(rows().getFirst().entry().count()).isEqualTo(999);

    time.advance(AuditRefusals.WINDOW);
    time.advance(AuditRefusals.WINDOW);
    refusals.refused(MALLORY, "GET /queues", 403);
    awaitRows(3);
    assertThat(rows().getFirst().entry().count()).isEqualTo(1);
  }

  @Test
  void manySourcesFillNeitherTheMemoryNorTheTable() {
    for (int i = 0; i < 10_000; i++) {
      refusals.refused(new Actor("anonymous", "203.0.113." + i), "GET /queues", 401);
    }
    awaitRows(AuditRefusals.MOST_KEYS + 1);
    time.advance(AuditRefusals.WINDOW);
    awaitRows(AuditRefusals.MOST_KEYS + 2);
    assertThat(rows().stream().mapToInt(row -> row.entry().count()).sum()).isEqualTo(10_000);
  }

  @Test
  void theEndOfTheServerLosesNoCount() {
    refusals.refused(MALLORY, "GET /queues", 403);
    awaitRows(1);
    refusals.refused(MALLORY, "GET /queues", 403);
    refusals.refused(MALLORY, "GET /queues", 403);
    refusals.close();
    assertThat(rows()).hasSize(2);
    assertThat(rows().getFirst().entry().count()).isEqualTo(2);
  }
}
