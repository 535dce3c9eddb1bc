package dev.sessionkeeper.server.streams;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;

/** Counts events of streams and their readers. */
final class StreamMeters {
  private final Counter published;
  private final Counter sent;
  private final Counter gaps;
  private final Counter slowReaders;

  StreamMeters(MeterRegistry registry, TailStreams tails) {
    Gauge.builder("keeper.sse.connections", tails, TailStreams::readers)
        .description("Open readers of streams")
        .register(registry);
    published = counter(registry, "keeper.stream.events.published", "Events published over HTTP");
    sent = counter(registry, "keeper.sse.events.sent", "Events written to readers");
    gaps =
        counter(
            registry,
            "keeper.sse.gaps",
            "Readers that were told that the events they requested are deleted");
    slowReaders =
        counter(registry, "keeper.sse.slow.readers", "Readers disconnected because they were slow");
  }

  private static Counter counter(MeterRegistry registry, String name, String description) {
    return Counter.builder(name).description(description).register(registry);
  }

  void published() {
    published.increment();
  }

  void sent(int events) {
    sent.increment(events);
  }

  void gap() {
    gaps.increment();
  }

  void slowReader() {
    slowReaders.increment();
  }
}
