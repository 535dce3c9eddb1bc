package dev.sessionkeeper.server.operations;

import dev.sessionkeeper.server.config.ServerConfig;
import dev.sessionkeeper.server.config.TlsFiles;
import dev.sessionkeeper.time.TimeSource;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.function.Supplier;

/**
 * Exposes when the server's certificate expires, by the first certificate of its chain that does.
 */
final class CertificateGauge {
  private CertificateGauge() {}

  /**
   * Registers the gauge.
   *
   * @param tls the certificates in force; a reload replaces them
   */
  static void register(MeterRegistry registry, Supplier<ServerConfig.Tls> tls, TimeSource time) {
    Gauge.builder("keeper.tls.certificate.remaining", () -> remaining(tls.get(), time))
        .description("How long the certificate of the server is still valid")
        .baseUnit("seconds")
        .register(registry);
  }

  private static double remaining(ServerConfig.Tls tls, TimeSource time) {
    var end = TlsFiles.end(tls.certificate(), tls.certificatePem());
    return Duration.between(time.instant(), end).toSeconds();
  }
}
