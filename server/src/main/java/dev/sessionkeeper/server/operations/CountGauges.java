package dev.sessionkeeper.server.operations;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.spi.CountableQueues;
import dev.sessionkeeper.spi.CountableQueues.Counts;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.time.TimeSource;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Exposes the counts of queues on a broker that cannot list sessions, under the names of {@link
 * QueueGauges}. Each reading costs requests to the broker, so one reading serves scrapes for half a
 * minute.
 */
final class CountGauges {
  private static final int MOST_QUEUES = 100;
  private static final Duration FRESH = Duration.ofSeconds(30);

  private final Sampled<Map<QueueName, Counts>> counts;
  private final MultiGauge depth;
  private final MultiGauge inFlight;
  private final MultiGauge deadLetters;

  CountGauges(
      MeterRegistry registry, QueueProvider queues, CountableQueues countable, TimeSource time) {
    counts = new Sampled<>(Map.of(), () -> look(queues, countable), FRESH, time);
    depth =
        MultiGauge.builder("keeper.queue.depth")
            .description("Messages that are neither completed nor dead letters")
            .register(registry);
    inFlight =
        MultiGauge.builder("keeper.queue.in.flight.messages")
            .description("Open deliveries, as the broker counts them")
            .register(registry);
    deadLetters =
        MultiGauge.builder("keeper.queue.dead.letters")
            .description("Messages that were set aside as dead letters")
            .register(registry);
  }

  void refresh() {
    var now = counts.get();
    show(depth, now, each -> Stream.of(each.depth()));
    show(inFlight, now, each -> each.inFlight().stream().boxed());
    show(deadLetters, now, each -> Stream.of(each.deadLetters()));
  }

  private static void show(
      MultiGauge gauge, Map<QueueName, Counts> counts, Function<Counts, Stream<Long>> number) {
    List<MultiGauge.Row<?>> rows =
        counts.entrySet().stream()
            .<MultiGauge.Row<?>>flatMap(
                entry ->
                    number
                        .apply(entry.getValue())
                        .map(
                            value ->
                                MultiGauge.Row.of(Tags.of("queue", entry.getKey().value()), value)))
            .toList();
    gauge.register(rows, true);
  }

  private static Map<QueueName, Counts> look(QueueProvider queues, CountableQueues countable) {
    var all = new LinkedHashMap<QueueName, Counts>();
    for (var queue : queues.declaredQueues().stream().limit(MOST_QUEUES).toList()) {
      try {
        all.put(queue, countable.counts(queue));
      } catch (KeeperException.UnknownQueue e) {
        // The queue was deleted after it was listed.
      }
    }
    return all;
  }
}
