package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.github.BindBots;
import dev.sessionkeeper.github.Bot;
import dev.sessionkeeper.github.BoundBots;
import dev.sessionkeeper.server.config.ConfigContext;
import dev.sessionkeeper.server.config.ConfigSection;
import dev.sessionkeeper.server.json.FieldError;
import dev.sessionkeeper.server.json.InvalidInput;
import dev.sessionkeeper.server.json.JsonValue;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The configured bots. */
public record BotsConfig(List<Bot> bots) {
  public static final ConfigSection<BotsConfig> SECTION =
      ConfigSection.together("bots", BindBots.SECTIONS, BotsConfig::read);

  public BotsConfig {
    bots = List.copyOf(bots);
  }

  static BotsConfig read(JsonValue.Obj file, ConfigContext context) {
    return switch (BindBots.bind(plainMap(file), text -> secret(text, context))) {
      case BoundBots.Invalid invalid ->
          throw new InvalidInput(
              invalid.problems().stream()
                  .map(problem -> new FieldError(problem.path(), problem.problem()))
                  .toList());
      case BoundBots.Valid valid -> {
        valid.bots().forEach(bot -> warnOfTypes(bot, context));
        yield new BotsConfig(valid.bots());
      }
    };
  }

  private static void warnOfTypes(Bot bot, ConfigContext context) {
    var unknown = bot.subscription().undocumentedTypes();
    if (!unknown.isEmpty()) {
      context.warn(
          "The bot " + bot.name() + " waits for events GitHub does not document: " + unknown);
    }
  }

  private static String secret(String text, ConfigContext context) {
    try {
      return context.secret().decode(new JsonValue.Text(text, JsonValue.Span.NOWHERE)).reveal();
    } catch (InvalidInput e) {
      throw new IllegalArgumentException(e.errors().getFirst().reason(), e);
    }
  }

  private static Map<String, @Nullable Object> plainMap(JsonValue.Obj object) {
    var map = new LinkedHashMap<String, @Nullable Object>();
    object.members().forEach((name, value) -> map.put(name, plain(value)));
    return map;
  }

  private static @Nullable Object plain(JsonValue value) {
    return switch (value) {
      case JsonValue.Obj object -> plainMap(object);
      // An empty list item is an error; lists of the parser hold no null.
      case JsonValue.Arr list ->
          list.items().stream()
              .<Object>map(item -> item instanceof JsonValue.Null ? "" : plainItem(item))
              .toList();
      case JsonValue.Text text -> text.value();
      case JsonValue.Word word -> word.value();
      case JsonValue.Num number -> number(number.literal());
      case JsonValue.Bool bool -> bool.value();
      case JsonValue.Null nothing -> null;
    };
  }

  private static Object plainItem(JsonValue value) {
    var plain = plain(value);
    return plain == null ? "" : plain;
  }

  private static Object number(String literal) {
    try {
      return Long.valueOf(literal);
    } catch (NumberFormatException notWhole) {
      // No key takes such a number; the error shows the text as written.
      return literal;
    }
  }
}
