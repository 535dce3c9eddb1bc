package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.github.GitHubSignature;
import dev.sessionkeeper.github.ReadDelivery;
import dev.sessionkeeper.server.config.ConfigContext;
import dev.sessionkeeper.server.config.ConfigSection;
import dev.sessionkeeper.server.config.Secret;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The settings of the webhook at GitHub.
 *
 * @param secrets accepted signing secrets; several while one is being rotated
 * @param maxBody the most bytes of a delivery
 * @param retention how long events are kept and delivery ids are recognised
 */
public record GithubConfig(List<Secret> secrets, int maxBody, Duration retention) {
  public static final ConfigSection<GithubConfig> SECTION =
      ConfigSection.of("github", GithubConfig::read).reload("secrets", "max_body", "retention");

  private static final Pattern SIZE = Pattern.compile("([0-9]{1,9})(B|KB|MB)");
  private static final Map<String, Integer> UNITS = Map.of("B", 1, "KB", 1 << 10, "MB", 1 << 20);

  static GithubConfig read(Fields in, ConfigContext context) {
    var secrets = in.optional("secrets", List.of(), Decode.list(1, 10, context.secret()));
    var maxBody =
        in.optional(
            "max_body", ReadDelivery.GITHUB_MAX_BODY, Decode.text(20).map(GithubConfig::size));
    var retention =
        in.optional(
            "retention",
            Duration.ofDays(30),
            Decode.duration(Duration.ofHours(1), Duration.ofDays(3660)));
    in.check();
    return new GithubConfig(secrets.get(), maxBody.get(), retention.get());
  }

  /**
   * Returns the reader of deliveries; empty without a secret, because then no sender can prove to
   * be GitHub.
   */
  Optional<ReadDelivery> reader() {
    return secrets.isEmpty()
        ? Optional.empty()
        : Optional.of(
            ReadDelivery.create(
                GitHubSignature.of(secrets.stream().map(Secret::reveal).toList()), maxBody));
  }

  private static int size(String text) {
    var parts = SIZE.matcher(text.toUpperCase(Locale.ROOT));
    if (parts.matches()) {
      long bytes = Long.parseLong(parts.group(1)) * UNITS.getOrDefault(parts.group(2), 1);
      if (bytes >= 1 && bytes <= ReadDelivery.GITHUB_MAX_BODY) {
        return (int) bytes;
      }
    }
    throw new IllegalArgumentException("must be a size from 1B to 25MB such as 512KB");
  }
}
