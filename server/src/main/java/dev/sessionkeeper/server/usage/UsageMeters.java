package dev.sessionkeeper.server.usage;

import dev.sessionkeeper.registry.usage.Usage;
import dev.sessionkeeper.registry.usage.UsageEvent;
import dev.sessionkeeper.server.operations.Sampled;
import dev.sessionkeeper.time.TimeSource;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** Counts metering and delivery. Tenants are never labels. */
public final class UsageMeters implements Consumer<UsageEvent> {
  private static final Duration FRESH = Duration.ofSeconds(10);

  private final Counter rows;
  private final Timer metering;
  private final Timer emissions;
  private final Counter records;
  private final Counter failures;
  private final Counter dead;
  private final Counter holds;
  private final Counter fenceRejections;
  private final AtomicInteger held;

  public UsageMeters(MeterRegistry registry) {
    rows =
        Counter.builder("keeper.usage.ledger.rows")
            .description("Rows written to the ledger")
            .register(registry);
    metering =
        Timer.builder("keeper.usage.metering")
            .description("How long the metering of a slot took")
            .register(registry);
    emissions =
        Timer.builder("keeper.usage.emission")
            .description("Batches that the receiver acknowledged, and how long the post took")
            .register(registry);
    records =
        Counter.builder("keeper.usage.emitted.records")
            .description("Records that the receiver acknowledged")
            .register(registry);
    failures =
        Counter.builder("keeper.usage.emission.failures")
            .description("Posts of usage that failed and are repeated")
            .register(registry);
    dead =
        Counter.builder("keeper.usage.batches.dead")
            .description("Batches that the receiver refused for good")
            .register(registry);
    holds =
        Counter.builder("keeper.usage.metering.holds")
            .description("Jumps of the database's clock that stopped metering")
            .register(registry);
    held = registry.gauge("keeper.usage.metering.held", new AtomicInteger());
    fenceRejections = registry.counter("keeper.fence.rejections");
  }

  /** Exposes how far metering is behind. */
  public void watch(Usage usage, MeterRegistry registry, TimeSource time) {
    var oldest = new Sampled<>(Duration.ZERO, usage::oldestUnmetered, FRESH, time);
    Gauge.builder("keeper.usage.oldest.unmetered", () -> oldest.get().toNanos() / 1e9)
        .description(
            "How long ago the oldest moment of session time passed that is not metered yet")
        .baseUnit("seconds")
        .register(registry);
  }

  /** Sets the gauge that shows whether metering is held. */
  public void held(boolean now) {
    held.set(now ? 1 : 0);
  }

  @Override
  public void accept(UsageEvent event) {
    switch (event) {
      case UsageEvent.Metered metered -> {
        rows.increment(metered.rows());
        metering.record(metered.took());
      }
      case UsageEvent.Held jump -> {
        holds.increment();
        held(true);
      }
      case UsageEvent.Released released -> held(false);
      case UsageEvent.Delivered delivered -> {
        emissions.record(delivered.took());
        records.increment(delivered.records());
      }
      case UsageEvent.DeliveryFailed failed -> failures.increment();
      case UsageEvent.Dead refused -> dead.increment();
      case UsageEvent.FenceRejected rejected -> fenceRejections.increment();
    }
  }
}
