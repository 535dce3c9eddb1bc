package dev.sessionkeeper.server.security;

import dev.sessionkeeper.server.config.ConfigContext;
import dev.sessionkeeper.server.config.ConfigSection;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The web origins whose pages may call the API.
 *
 * @param origins such as {@code https://app.example}; none by default
 */
public record CorsConfig(Set<String> origins) {
  public static final ConfigSection<CorsConfig> SECTION =
      ConfigSection.of("cors", CorsConfig::read).reload("origins");

  private static final Pattern ORIGIN =
      Pattern.compile("https?://(\\[[0-9a-f:]+]|[a-z0-9.-]+)(:[0-9]{1,5})?");

  static CorsConfig read(Fields in, ConfigContext context) {
    var origins =
        in.optional(
            "origins", List.of(), Decode.list(0, 100, Decode.text(300).map(CorsConfig::origin)));
    in.check();
    return new CorsConfig(Set.copyOf(origins.get()));
  }

  private static String origin(String text) {
    if (!ORIGIN.matcher(text).matches()) {
      throw new IllegalArgumentException(
          "must be an origin such as https://app.example: scheme, host in lower case and port,"
              + " without a path; * is not allowed");
    }
    return text;
  }
}
