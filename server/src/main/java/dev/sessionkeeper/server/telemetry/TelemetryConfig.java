package dev.sessionkeeper.server.telemetry;

import dev.sessionkeeper.server.config.ConfigContext;
import dev.sessionkeeper.server.config.ConfigSection;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import java.net.URI;
import java.util.Optional;

/**
 * The settings of traces.
 *
 * @param otlpEndpoint a collector's OTLP address over HTTP, such as {@code
 *     http://127.0.0.1:4318/v1/traces}; without it, only an attached agent creates spans
 * @param samplePercent how many of the traces that begin here are exported; other traces follow the
 *     caller's decision
 */
public record TelemetryConfig(Optional<URI> otlpEndpoint, String serviceName, int samplePercent) {
  public static final ConfigSection<TelemetryConfig> SECTION =
      ConfigSection.of("telemetry", TelemetryConfig::read)
          .restart("otlp_endpoint", "service_name", "sample_percent");

  static TelemetryConfig read(Fields in, ConfigContext context) {
    var endpoint = in.optional("otlp_endpoint", Decode.text(2000).map(TelemetryConfig::http));
    var name = in.optional("service_name", "sessionkeeper", Decode.text(200));
    var percent = in.optional("sample_percent", 100, Decode.integer(0, 100));
    in.check();
    return new TelemetryConfig(endpoint.get(), name.get(), percent.get());
  }

  private static URI http(String text) {
    var url = URI.create(text);
    if (url.getHost() == null || !String.valueOf(url.getScheme()).matches("https?")) {
      throw new IllegalArgumentException("must be an http or https address");
    }
    return url;
  }
}
