package dev.sessionkeeper.server.activity;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.coalescing.CoalescingWriter;
import dev.sessionkeeper.coalescing.MemoryLastValueStore;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The names of these metrics are a promise to dashboards and alerts. */
class WriterMetersTest {
  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

  @BeforeEach
  void writeSome() throws Exception {
    var meters = new WriterMeters(registry, "test");
    try (var writer =
        CoalescingWriter.builder(MemoryLastValueStore.<String, String>create())
            .listener(meters)
            .build()) {
      meters.bind(writer);
      var last = writer.submit("a", 1, "v");
      for (int version = 2; version <= 100; version++) {
        last = writer.submit("a", version, "v");
      }
      assertThat(last.toCompletableFuture().get(20, TimeUnit.SECONDS).isSaved()).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "keeper_persistence_queue_depth",
        "keeper_persistence_batch_size_count",
        "keeper_persistence_coalesce_ratio",
        "keeper_persistence_events_coalesced_total",
        "keeper_persistence_retry_queue_depth",
        "keeper_persistence_retries_processed_total",
        "keeper_persistence_retry_success_total",
        "keeper_persistence_retry_exhausted_total",
        "keeper_persistence_backpressure_timeout_total",
        "keeper_persistence_latency_seconds_count",
        "keeper_persistence_latency_seconds_bucket",
        "keeper_persistence_bytes",
        "keeper_persistence_dead_total",
        "keeper_persistence_rejected_total",
        "keeper_persistence_worker_restarts_total"
      })
  void theMetricIsThereUnderItsName(String name) {
    assertThat(registry.scrape().lines())
        .anyMatch(line -> line.startsWith(name + "{") && line.contains("writer=\"test\""));
  }

  @Test
  void theFiguresAreThoseOfTheWriter() {
    assertThat(registry.get("keeper.persistence.events.coalesced").functionCounter().count())
        .isBetween(1.0, 99.0);
    assertThat(registry.get("keeper.persistence.coalesce.ratio").gauge().value()).isGreaterThan(1);
    assertThat(registry.get("keeper.persistence.latency").timer().count()).isPositive();
  }

  @Test
  void twoWritersAreToldApart() {
    var other = new WriterMeters(registry, "other");
    try (var writer = CoalescingWriter.create(MemoryLastValueStore.<String, String>create())) {
      other.bind(writer);
      assertThat(registry.scrape())
          .contains("keeper_persistence_queue_depth{writer=\"other\"}")
          .contains("keeper_persistence_queue_depth{writer=\"test\"}");
    }
  }
}
