package dev.sessionkeeper.server.operations;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.server.config.ServerConfig;
import dev.sessionkeeper.server.http.HttpServer;
import dev.sessionkeeper.server.http.RequestListener;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.spi.CountableQueues;
import dev.sessionkeeper.spi.InspectableQueues;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.time.TimeSource;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import javax.sql.DataSource;

/**
 * The metrics of a server, and {@code /metrics}. Names begin with {@code keeper_}; those of the
 * Java process are Micrometer's.
 */
public final class Metrics implements RequestListener, AutoCloseable {
  private static final int SERVER_ERROR = 500;
  private static final int TOO_MANY = 429;

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final Counter fenceRejections =
      Counter.builder("keeper.fence.rejections")
          .description("Calls under a lease that was no longer held")
          .register(registry);

  private final Counter errors =
      Counter.builder("keeper.http.errors")
          .description("Requests that the server answered with a status of 500 or more")
          .register(registry);
  private final Counter rateLimited =
      Counter.builder("keeper.http.rate.limited")
          .description("Requests refused because their credential sent too many")
          .register(registry);
  private volatile BooleanSupplier isStoreReady = () -> true;
  private final JvmMeters jvm = new JvmMeters(registry);

  public Metrics() {
    Gauge.builder(
            "keeper.heap.used.bytes",
            ManagementFactory.getMemoryMXBean(),
            memory -> memory.getHeapMemoryUsage().getUsed())
        .description("Bytes of the heap in use, garbage included")
        .register(registry);
  }

  /** Exposes how many bytes of request bodies and answers are in memory. */
  public void watch(HttpServer http) {
    Gauge.builder("keeper.http.buffered.bytes", http, HttpServer::bufferedBytes)
        .description("Bytes of request bodies and of answers in memory")
        .register(registry);
  }

  /**
   * Exposes the state of the store.
   *
   * @param folder the data folder of an embedded database
   */
  public void watch(
      Supplier<Optional<String>> notReady,
      Optional<DataSource> database,
      Optional<Path> folder,
      TimeSource time) {
    isStoreReady =
        StoreGauges.register(registry, notReady, database.map(Database::of), folder, time);
  }

  /**
   * Exposes when the server's certificate expires.
   *
   * @param tls the certificates in force; a reload replaces them
   */
  public void watch(Supplier<ServerConfig.Tls> tls, TimeSource time) {
    CertificateGauge.register(registry, tls, time);
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
    if (status >= SERVER_ERROR) {
      errors.increment();
    }
    if (status == TOO_MANY) {
      rateLimited.increment();
    }
  }

  @Override
  public void close() {
    jvm.close();
  }

  private Runnable refreshing(QueueProvider queues, TimeSource time) {
    return switch (queues) {
      case InspectableQueues inspectable -> {
        var gauges =
            new Gauges(
                new QueueGauges(registry), new LeaseAges(registry, time), reading(inspectable));
        yield () -> refresh(gauges, queues, inspectable);
      }
      case CountableQueues countable -> new CountGauges(registry, queues, countable, time)::refresh;
      default -> () -> {};
    };
  }

  private Optional<ReadingGauges> reading(InspectableQueues queues) {
    return queues instanceof PostgresQueueProvider postgres
        ? Optional.of(new ReadingGauges(registry, postgres))
        : Optional.empty();
  }

  /** The gauges with a row for each queue. */
  private record Gauges(QueueGauges queues, LeaseAges leases, Optional<ReadingGauges> reading) {
    void clear() {
      queues.clear();
      leases.clear();
      reading.ifPresent(ReadingGauges::clear);
    }
  }

  private void refresh(Gauges gauges, QueueProvider queues, InspectableQueues inspectable) {
    if (!isStoreReady.getAsBoolean()) {
      gauges.clear();
      return;
    }
    try {
      var stats = gauges.queues().refresh(queues.queues(), inspectable);
      var held =
          stats.entrySet().stream()
              .filter(queue -> queue.getValue().heldSessions() > 0)
              .map(Map.Entry::getKey)
              .collect(Collectors.toSet());
      gauges.leases().refresh(stats.keySet(), held, inspectable);
      gauges.reading().ifPresent(reading -> reading.refresh(stats.keySet()));
    } catch (KeeperException e) {
      // The store is away, but the server's own counters are still worth a scrape.
      gauges.clear();
    }
  }

  private Response scrape(Runnable refresh) {
    refresh.run();
    return Response.text(200, "text/plain; version=0.0.4; charset=utf-8", registry.scrape());
  }
}
