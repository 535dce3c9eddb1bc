package dev.sessionkeeper.server.operations;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;

/**
 * Exposes which share of each queue this server reads, and the bytes of prefetched messages in its
 * memory.
 */
final class ReadingGauges {
  private final PostgresQueueProvider queues;
  private final MultiGauge buckets;

  ReadingGauges(MeterRegistry registry, PostgresQueueProvider queues) {
    this.queues = queues;
    this.buckets =
        MultiGauge.builder("keeper.queue.owned.buckets")
            .description(
                "Of the 64 buckets of sessions, those that this server reads; 0 while it reads"
                    + " none")
            .register(registry);
    Gauge.builder("keeper.queue.buffered.bytes", queues, PostgresQueueProvider::bodiesInMemory)
        .description("Bytes of prefetched message bodies that wait for a consumer")
        .register(registry);
  }

  void refresh(Collection<QueueName> names) {
    List<MultiGauge.Row<?>> rows = names.stream().<MultiGauge.Row<?>>flatMap(this::row).toList();
    buckets.register(rows, true);
  }

  void clear() {
    buckets.register(List.of(), true);
  }

  private Stream<MultiGauge.Row<?>> row(QueueName name) {
    try {
      return Stream.of(
          MultiGauge.Row.of(Tags.of("queue", name.value()), queues.ownedBuckets(name)));
    } catch (KeeperException.UnknownQueue e) {
      return Stream.empty(); // The queue was deleted after it was listed.
    }
  }
}
