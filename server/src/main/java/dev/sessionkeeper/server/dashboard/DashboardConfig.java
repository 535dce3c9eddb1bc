package dev.sessionkeeper.server.dashboard;

import dev.sessionkeeper.server.config.ConfigContext;
import dev.sessionkeeper.server.config.ConfigSection;
import dev.sessionkeeper.server.config.Secret;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The pages for people.
 *
 * @param isEnabled whether they are served
 * @param session how long a login lasts
 * @param publicUrl the address that browsers use, where a proxy stands before the server
 * @param oidc how people log in at the provider of {@code security.jwt}
 */
public record DashboardConfig(
    boolean isEnabled, Duration session, Optional<URI> publicUrl, Optional<OidcClient> oidc) {
  public static final ConfigSection<DashboardConfig> SECTION =
      ConfigSection.of("dashboard", DashboardConfig::read)
          .restart("enabled", "oidc", "public_url", "session");

  static DashboardConfig read(Fields in, ConfigContext context) {
    var enabled = in.optional("enabled", true, Decode.bool());
    var session =
        in.optional(
            "session",
            Duration.ofHours(8),
            Decode.duration(Duration.ofMinutes(1), Duration.ofDays(30)));
    var url = in.optional("public_url", Decode.text(2000).map(DashboardConfig::address));
    var oidc = in.optional("oidc", Decode.object(fields -> OidcClient.read(fields, context)));
    if (in.has("oidc") && !in.has("public_url")) {
      in.reject("public_url", "is missing; the identity provider sends browsers back to it");
    }
    in.check();
    return new DashboardConfig(enabled.get(), session.get(), url.get(), oidc.get());
  }

  /**
   * This server as a client of an identity provider.
   *
   * @param clientSecret left out for a public client
   * @param scopes asked for with every login
   */
  public record OidcClient(String clientId, Optional<Secret> clientSecret, List<String> scopes) {
    static OidcClient read(Fields in, ConfigContext context) {
      var id = in.required("client_id", Decode.text(500));
      var secret = in.optional("client_secret", context.secret());
      var scopes = in.optional("scopes", List.of("openid"), Decode.list(1, 20, Decode.text(200)));
      in.check();
      return new OidcClient(id.get(), secret.get(), scopes.get());
    }
  }

  private static URI address(String text) {
    var uri = URI.create(text.endsWith("/") ? text.substring(0, text.length() - 1) : text);
    var scheme = String.valueOf(uri.getScheme());
    if (!(scheme.equals("https") || scheme.equals("http")) || uri.getHost() == null) {
      throw new IllegalArgumentException("must be an http or https address");
    }
    return uri;
  }
}
