package dev.sessionkeeper.server.operations;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.server.http.HttpServer;
import dev.sessionkeeper.server.http.RequestListener;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.spi.CountableQueues;
import dev.sessionkeeper.spi.InspectableQueues;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.time.TimeSource;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;

/** The meters of a server, and {@code /metrics}. All names begin with {@code keeper_}. */
public final class Metrics implements RequestListener {
  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final Counter fenceRejections =
      Counter.builder("keeper.fence.rejections")
          .description("Calls under a lease that was no longer held")
          .register(registry);

  public Metrics() {
    Gauge.builder(
            "keeper.heap.used.bytes",
            ManagementFactory.getMemoryMXBean(),
            memory -> memory.getHeapMemoryUsage().getUsed())
        .description("Bytes of the heap in use, garbage included")
        .register(registry);
  }

  /** Shows the bytes of request bodies and answers that the web server holds. */
  public void watch(HttpServer http) {
    Gauge.builder("keeper.http.buffered.bytes", http, HttpServer::bufferedBytes)
        .description("Bytes of request bodies and of answers in memory")
        .register(registry);
  }

  public MeterRegistry registry() {
    return registry;
  }

  public List<Route> routes(QueueProvider queues, TimeSource time) {
    Runnable refresh = refreshing(queues, time);
    return List.of(
        Route.get("/metrics", Role.READ, Scope.server("Metrics"), request -> scrape(refresh))
            .summary("Metrics for Prometheus")
            .answers(200, "Prometheus text format", "text/plain"));
  }

  @Override
  public void answered(String route, int status, Duration took) {
    Timer.builder("keeper.http.requests")
        .description("Answered requests by route and status")
        .tag("route", route)
        .tag("status", String.valueOf(status))
        .register(registry)
        .record(took);
    if (status == 410) {
      fenceRejections.increment();
    }
  }

  private Runnable refreshing(QueueProvider queues, TimeSource time) {
    return switch (queues) {
      case InspectableQueues inspectable -> {
        var gauges = new QueueGauges(registry);
        yield () -> refresh(gauges, queues, inspectable);
      }
      case CountableQueues countable -> new CountGauges(registry, queues, countable, time)::refresh;
      default -> () -> {};
    };
  }

  private static void refresh(
      QueueGauges gauges, QueueProvider queues, InspectableQueues inspectable) {
    try {
      gauges.refresh(queues.queues(), inspectable);
    } catch (KeeperException e) {
      // The store is away. What the server counts itself is still worth a scrape.
      gauges.clear();
    }
  }

  private Response scrape(Runnable refresh) {
    refresh.run();
    return Response.text(200, "text/plain; version=0.0.4; charset=utf-8", registry.scrape());
  }
}
