package dev.sessionkeeper.server.config;

import dev.sessionkeeper.github.BotKey;
import dev.sessionkeeper.server.ReadConfig;
import dev.sessionkeeper.time.DurationText;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;

/**
 * Writes the reference page of the configuration. Keys, defaults, allowed values and reload rules
 * come from the readers of the sections; the sentences come from {@code configuration.properties}.
 */
public final class DescribeConfiguration {
  /** Invalid values, to which a reader answers with the list of what it allows. */
  private static final List<String> PROBES = List.of("-1", "100000d", "\"?\"", "[]", "{}");

  private static final Path FOLDER = Path.of("").toAbsolutePath();

  private final Properties sentences = new Properties();

  private DescribeConfiguration() {
    try (var in = DescribeConfiguration.class.getResourceAsStream("/configuration.properties")) {
      sentences.load(new java.io.InputStreamReader(in, StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public static String page() {
    return new DescribeConfiguration().write();
  }

  private String write() {
    var text =
        new StringBuilder(
            """
            # Configuration

            `keeper serve --config keeper.yaml` reads these keys. Precedence: flag, environment, file. The environment variable of `server.port` is
            `KEEPER_SERVER_PORT`; every key of the first two levels has one. `keeper check keeper.yaml` lists every error with line and column.

            Durations have a unit: `500ms`, `5s`, `10m`, `24h`, `30d`, or ISO 8601 such as `PT5M`. A secret is `env:NAME`, `file:PATH` or the text
            itself, which logs a warning. A relative path begins at the folder of the file.

            *Reload* says what a change needs: a reload (`SIGHUP`, `POST /admin/reload` or `keeper reload`), or a restart.
            """);
    for (var section : ReadConfig.SECTIONS) {
      if (!section.key().equals("bots")) {
        section(text, section);
      }
    }
    bots(text);
    return text.toString();
  }

  private void section(StringBuilder text, ConfigSection<?> section) {
    text.append("\n## ").append(section.key()).append('\n');
    text.append('\n').append(sentence(section.key())).append("\n\n");
    text.append("| key | default | allowed | reload | meaning |\n|---|---|---|---|---|\n");
    var defaults = section.absent(new ConfigContext(Map.of(), FOLDER)).keys();
    section
        .declared()
        .forEach(
            (path, declared) ->
                text.append(
                    "| `%s` | %s | %s | %s | %s |%n"
                        .formatted(
                            path,
                            shown(path, defaults.get(path)),
                            allowed(path),
                            rule(declared.key()),
                            sentence(path))));
  }

  private void bots(StringBuilder text) {
    text.append("\n## bots\n\n").append(sentence("bots")).append("\n\n");
    text.append("| key | default | allowed | meaning |\n|---|---|---|---|\n");
    for (var key : BotKey.values()) {
      text.append(
          "| `%s` | %s | %s | %s |%n"
              .formatted(
                  key.key(),
                  key.initially().map(value -> "`" + value + "`").orElse("–"),
                  key.allowed(),
                  sentence("bots." + key.key())));
    }
  }

  private static String rule(ConfigKey key) {
    var rule = key.rule() == ConfigKey.Rule.RELOAD ? "reload" : "restart";
    return key.note().isEmpty() ? rule : rule + "; " + key.note();
  }

  private String sentence(String key) {
    var sentence = sentences.getProperty(key);
    if (sentence == null) {
      throw new IllegalStateException("configuration.properties does not describe " + key);
    }
    return sentence;
  }

  private static String shown(String path, Object value) {
    return switch (value) {
      case Optional<?> optional -> optional.map(inner -> shown(path, inner)).orElse("–");
      case Duration duration -> "`" + DurationText.readable(duration) + "`";
      case Collection<?> list -> list.isEmpty() ? "–" : "see meaning";
      case Map<?, ?> map -> map.isEmpty() ? "–" : "see meaning";
      case Path folder -> "`./" + FOLDER.relativize(folder) + "`";
      case String text -> "`" + text + "`";
      case Number number -> "`" + number + "`";
      case Boolean bool -> "`" + bool + "`";
      case Enum<?> word -> "`" + word.name().toLowerCase(java.util.Locale.ROOT) + "`";
      default -> "–";
    };
  }

  private static String allowed(String path) {
    var parts = path.split("\\.", 2);
    var fallback = "text";
    for (var probe : PROBES) {
      var yaml = parts[0] + ":\n  " + parts[1] + ": " + probe + "\n";
      try {
        ReadConfig.from(new ConfigSources("probe", yaml, FOLDER, Map.of(), Map.of()));
      } catch (InvalidConfig e) {
        for (var error : e.errors()) {
          var reason = error.reason().replaceFirst(", (was|is) .*$", "");
          if (error.key().equals(path)) {
            if (reason.matches("(?s)must be (.* )?(from .* to |one of|true or false|embedded).*")) {
              return reason.replaceFirst("^must be ", "");
            }
            if (reason.matches("must be (a list|an object).*")) {
              fallback = reason.replaceFirst("^must be ", "");
            }
          }
        }
      }
    }
    return fallback;
  }
}
