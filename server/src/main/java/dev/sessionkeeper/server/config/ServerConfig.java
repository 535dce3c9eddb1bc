package dev.sessionkeeper.server.config;

import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * The address of the server, its certificates and its drain.
 *
 * @param drainDelay how long the server keeps serving after readiness turned 503
 * @param drainTimeout how long running requests may take to finish at the end
 */
public record ServerConfig(
    String host, int port, Optional<Tls> tls, Duration drainDelay, Duration drainTimeout) {
  public static final ConfigSection<ServerConfig> SECTION =
      ConfigSection.of("server", ServerConfig::read)
          .restart("host", "port")
          .reload(
              "tls",
              "a restart turns TLS or client certificates on or off",
              ServerConfig::canReloadTls)
          .reload("drain_delay", "drain_timeout");

  /**
   * Certificates as PEM files, and their contents. With a client authority, every client must
   * present a certificate issued by it.
   *
   * @param certificatePem the file's text when the configuration was read
   */
  public record Tls(
      Path certificate,
      Path key,
      Optional<Path> clientAuthority,
      String certificatePem,
      Secret keyPem,
      Optional<String> clientAuthorityPem) {
    static Tls read(Fields in, ConfigContext context) {
      var certificate = in.required("certificate", context.path().map(Pem::certificates));
      var key = in.required("key", context.path().map(Pem::of));
      var authority = in.optional("client_authority", context.path().map(Pem::certificates));
      in.check();
      var chain = certificate.get();
      try {
        TlsFiles.keyStore(chain.file(), chain.text(), key.get().file(), key.get().text());
      } catch (IllegalArgumentException e) {
        in.reject("key", String.valueOf(e.getMessage()));
        in.check();
      }
      return new Tls(
          chain.file(),
          key.get().file(),
          authority.get().map(Pem::file),
          chain.text(),
          Secret.of(key.get().text()),
          authority.get().map(Pem::text));
    }
  }

  /** A PEM file and its text. */
  private record Pem(Path file, String text) {
    static Pem of(Path file) {
      return new Pem(file, TlsFiles.read(file));
    }

    static Pem certificates(Path file) {
      var pem = of(file);
      TlsFiles.certificates(file, pem.text());
      return pem;
    }

    @Override
    public String toString() {
      return file.toString();
    }
  }

  /** Allows a reload to change certificates, but not to switch TLS on or off. */
  private static boolean canReloadTls(Object before, Object after) {
    return before instanceof Optional<?> was
        && after instanceof Optional<?> is
        && was.isPresent()
        && is.isPresent()
        && was.get() instanceof Tls old
        && is.get() instanceof Tls next
        && old.clientAuthority().isPresent() == next.clientAuthority().isPresent();
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
