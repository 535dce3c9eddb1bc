package dev.sessionkeeper.micrometer;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.processor.ProcessorEvent;
import dev.sessionkeeper.processor.SessionHooks.Phase;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Metrics of one processor, recorded by adding this as its listener.
 *
 * {@snippet :
 * SessionProcessor.builder(provider, orders, handler)
 *     .listener(ProcessorMeters.of(registry, orders, "ledger"))
 *     .build();
 * }
 *
 * <p>Tags are {@code queue} and {@code listener}, and for handled messages {@code outcome}: {@code
 * complete}, {@code retry}, {@code dead_letter} or {@code park}. Session and message ids are no
 * tags, because their number is not bounded. Safe for many threads.
 */
public final class ProcessorMeters implements Consumer<ProcessorEvent> {
  private final Map<Outcome, Timer> handled = new EnumMap<>(Outcome.class);
  private final Map<Phase, Counter> errors = new EnumMap<>(Phase.class);
  private final AtomicInteger active = new AtomicInteger();
  private final Timer held;
  private final DistributionSummary perHold;
  private final Counter renewed;
  private final Counter lost;
  private final Counter violated;

  /** The outcome of a message. */
  private enum Outcome {
    COMPLETE,
    RETRY,
    DEAD_LETTER,
    PARK;

    static Outcome of(Settlement settlement) {
      return switch (settlement) {
        case Settlement.Complete complete -> COMPLETE;
        case Settlement.Retry retry -> RETRY;
        case Settlement.DeadLetter letter -> DEAD_LETTER;
        case Settlement.Park park -> PARK;
      };
    }
  }

  private ProcessorMeters(MeterRegistry registry, Tags tags) {
    for (var outcome : Outcome.values()) {
      handled.put(
          outcome,
          Timer.builder("sessionkeeper.messages.handled")
              .description("Calls of the handler, by how the message ended")
              .tags(tags.and("outcome", word(outcome)))
              .register(registry));
    }
    for (var phase : Phase.values()) {
      errors.put(
          phase,
          Counter.builder("sessionkeeper.errors")
              .description("Failures, by what the processor was doing")
              .tags(tags.and("phase", word(phase)))
              .register(registry));
    }
    Gauge.builder("sessionkeeper.sessions.active", active, AtomicInteger::get)
        .description("Held sessions")
        .tags(tags)
        .strongReference(true)
        .register(registry);
    held =
        Timer.builder("sessionkeeper.sessions.held")
            .description("How long sessions were held")
            .tags(tags)
            .register(registry);
    perHold =
        DistributionSummary.builder("sessionkeeper.sessions.messages")
            .description("Messages of one hold")
            .tags(tags)
            .register(registry);
    renewed = counter(registry, tags, "sessionkeeper.leases.renewed", "Leases that were extended");
    lost =
        counter(registry, tags, "sessionkeeper.leases.lost", "Leases that ran out or were taken");
    violated =
        counter(
            registry, tags, "sessionkeeper.order.violations", "Deliveries out of order; must be 0");
  }

  /**
   * Returns the metrics of a processor of this queue; {@code listener} distinguishes processors of
   * one queue.
   */
  public static ProcessorMeters of(MeterRegistry registry, QueueName queue, String listener) {
    return new ProcessorMeters(registry, Tags.of("queue", queue.value(), "listener", listener));
  }

  @Override
  public void accept(ProcessorEvent event) {
    switch (event) {
      case ProcessorEvent.SessionOpened opened -> active.incrementAndGet();
      case ProcessorEvent.SessionClosed closed -> {
        active.decrementAndGet();
        held.record(closed.held());
        perHold.record(closed.messages());
      }
      case ProcessorEvent.HandlingStarted started -> {}
      case ProcessorEvent.HandlingEnded ended ->
          meter(handled, Outcome.of(ended.settlement())).record(ended.took());
      case ProcessorEvent.LeaseRenewed lease -> renewed.increment();
      case ProcessorEvent.LeaseLost lease -> lost.increment();
      case ProcessorEvent.OrderViolated order -> violated.increment();
      case ProcessorEvent.Failed failed -> meter(errors, failed.context().phase()).increment();
    }
  }

  private static <K extends Enum<K>, M> M meter(Map<K, M> meters, K key) {
    var meter = meters.get(key);
    if (meter == null) {
      throw new IllegalStateException("Every " + key.getDeclaringClass() + " has a meter");
    }
    return meter;
  }

  private static Counter counter(
      MeterRegistry registry, Tags tags, String name, String description) {
    return Counter.builder(name).description(description).tags(tags).register(registry);
  }

  private static String word(Enum<?> constant) {
    return constant.name().toLowerCase(java.util.Locale.ROOT);
  }
}
