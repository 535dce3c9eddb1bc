package dev.sessionkeeper.server.telemetry;

import dev.sessionkeeper.tracing.TraceMessages;
import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Creates and exports spans. Closing it exports the remaining ones. */
public final class Telemetry implements AutoCloseable {
  private static final Duration LAST_PATIENCE = Duration.ofSeconds(3);

  private final OpenTelemetry telemetry;
  private final Runnable end;

  private Telemetry(OpenTelemetry telemetry, Runnable end) {
    this.telemetry = telemetry;
    this.end = end;
  }

  /** Opens telemetry as configured; without an endpoint, that of an attached agent. */
  public static Telemetry open(TelemetryConfig config, String version) {
    return config
        .otlpEndpoint()
        .map(endpoint -> exporting(endpoint, config, version))
        .orElseGet(() -> of(GlobalOpenTelemetry.get()));
  }

  /** Returns telemetry that its creator closes. */
  public static Telemetry of(OpenTelemetry telemetry) {
    return new Telemetry(telemetry, () -> {});
  }

  private static Telemetry exporting(URI endpoint, TelemetryConfig config, String version) {
    var exporter =
        OtlpHttpSpanExporter.builder()
            .setEndpoint(endpoint.toString())
            .setTimeout(Duration.ofSeconds(5))
            .build();
    var provider =
        SdkTracerProvider.builder()
            .setResource(resource(config, version))
            .setSampler(
                Sampler.parentBased(Sampler.traceIdRatioBased(config.samplePercent() / 100.0)))
            .addSpanProcessor(BatchSpanProcessor.builder(exporter).build())
            .build();
    return new Telemetry(
        OpenTelemetrySdk.builder().setTracerProvider(provider).build(),
        () -> provider.shutdown().join(LAST_PATIENCE.toMillis(), TimeUnit.MILLISECONDS));
  }

  private static Resource resource(TelemetryConfig config, String version) {
    return Resource.getDefault()
        .merge(
            Resource.create(
                Attributes.of(
                    AttributeKey.stringKey("service.name"),
                    config.serviceName(),
                    AttributeKey.stringKey("service.version"),
                    version)));
  }

  public TraceMessages traces() {
    return TraceMessages.with(telemetry);
  }

  @Override
  public void close() {
    end.run();
  }
}
