package dev.sessionkeeper.server.config;

import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * Where the server listens.
 *
 * @param drainDelay how long it goes on serving at the end after it has said that it is not ready
 * @param drainTimeout how long running requests may take to finish at the end
 */
public record ServerConfig(
    String host, int port, Optional<Tls> tls, Duration drainDelay, Duration drainTimeout) {
  public static final ConfigSection<ServerConfig> SECTION =
      ConfigSection.of("server", ServerConfig::read);

  /** Certificates as PEM files; with a client authority every client has to show one of its own. */
  public record Tls(Path certificate, Path key, Optional<Path> clientAuthority) {
    static Tls read(Fields in, ConfigContext context) {
      var certificate = in.required("certificate", context.path());
      var key = in.required("key", context.path());
      var authority = in.optional("client_authority", context.path());
      in.check();
      return new Tls(certificate.get(), key.get(), authority.get());
    }
  }

  static ServerConfig read(Fields in, ConfigContext context) {
    var host = in.optional("host", "127.0.0.1", Decode.text(255));
    var port = in.optional("port", 8080, Decode.integer(0, 65535));
    var tls = in.optional("tls", Decode.object(fields -> Tls.read(fields, context)));
    var delay =
        in.optional(
            "drain_delay", Duration.ZERO, Decode.duration(Duration.ZERO, Duration.ofMinutes(10)));
    var drain =
        in.optional(
            "drain_timeout",
            Duration.ofSeconds(30),
            Decode.duration(Duration.ZERO, Duration.ofMinutes(10)));
    in.check();
    return new ServerConfig(host.get(), port.get(), tls.get(), delay.get(), drain.get());
  }
}
