package dev.sessionkeeper.server.dashboard;

import dev.sessionkeeper.server.config.ConfigContext;
import dev.sessionkeeper.server.config.ConfigSection;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;

/**
 * The pages for people.
 *
 * @param isEnabled whether they are served
 * @param session how long a login lasts
 * @param publicUrl the address that browsers use, where a proxy stands before the server
 */
public record DashboardConfig(boolean isEnabled, Duration session, Optional<URI> publicUrl) {
  public static final ConfigSection<DashboardConfig> SECTION =
      ConfigSection.of("dashboard", DashboardConfig::read)
          .restart("enabled", "public_url", "session");

  static DashboardConfig read(Fields in, ConfigContext context) {
    var enabled = in.optional("enabled", true, Decode.bool());
    var session =
        in.optional(
            "session",
            Duration.ofHours(8),
            Decode.duration(Duration.ofMinutes(1), Duration.ofDays(30)));
    var url = in.optional("public_url", Decode.text(2000).map(DashboardConfig::address));
    in.check();
    return new DashboardConfig(enabled.get(), session.get(), url.get());
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
