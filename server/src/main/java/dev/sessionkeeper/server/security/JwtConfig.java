package dev.sessionkeeper.server.security;

import com.nimbusds.jose.jwk.JWKSet;
import dev.sessionkeeper.server.config.ConfigContext;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.ParseException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Tokens of an OpenID Connect provider.
 *
 * @param algorithms the accepted signature algorithms, all with public keys
 * @param jwksUrl the address of the provider's keys; read at the start and regularly afterwards
 * @param rolesClaim the claim that lists the server's roles
 * @param tenantClaim the claim that binds a token to a tenant
 * @param boundToTenant whether each token must have that claim; if not, no token may have it
 */
public record JwtConfig(
    String issuer,
    String audience,
    List<String> algorithms,
    Optional<Path> jwksFile,
    Optional<URI> jwksUrl,
    String rolesClaim,
    String tenantClaim,
    boolean boundToTenant) {
  private static final Map<String, String> ALGORITHMS =
      Stream.of("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512")
          .collect(Collectors.toMap(name -> name, name -> name));

  static JwtConfig read(Fields in, ConfigContext context) {
    var issuer = in.required("issuer", Decode.text(500));
    var audience = in.required("audience", Decode.text(500));
    var algorithms =
        in.optional(
            "algorithms", List.of("RS256", "ES256"), Decode.list(1, 9, Decode.oneOf(ALGORITHMS)));
    var file = in.optional("jwks_file", context.path().map(JwtConfig::readable));
    var url = in.optional("jwks_url", Decode.text(2000).map(JwtConfig::https));
    var roles = in.optional("roles_claim", "roles", Decode.text(100));
    var tenant = in.optional("tenant_claim", "tenant", Decode.text(100));
    var bound = in.optional("bound_to_tenant", true, Decode.bool());
    if (in.has("jwks_file") == in.has("jwks_url")) {
      in.reject("jwks_file", "or jwks_url must be there, and not both");
    }
    in.check();
    return new JwtConfig(
        issuer.get(),
        audience.get(),
        algorithms.get(),
        file.get(),
        url.get(),
        roles.get(),
        tenant.get(),
        bound.get());
  }

  /** Refuses an unusable file before the server starts. */
  private static Path readable(Path file) {
    try {
      JWKSet.parse(Files.readString(file));
      return file;
    } catch (IOException | ParseException e) {
      throw new IllegalArgumentException(
          "names the file " + file + ", which cannot be read as a JSON Web Key Set", e);
    }
  }

  /** Returns an address whose answers cannot be changed in transit: https, or this machine. */
  public static URI https(String text) {
    var uri = URI.create(text);
    var host = uri.getHost();
    boolean local = "127.0.0.1".equals(host) || "localhost".equals(host);
    if (!"https".equals(uri.getScheme()) && !("http".equals(uri.getScheme()) && local)) {
      throw new IllegalArgumentException("must be an https address");
    }
    return uri;
  }
}
