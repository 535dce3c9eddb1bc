package dev.sessionkeeper.github;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * Creates bots from the plain values of a configuration file: texts, numbers, booleans, lists and
 * maps.
 *
 * <p>The list {@code bots} defines bots; {@code bot_config} defines a single one. Limits may also
 * be in {@code session_limits}, by bot, and queue settings in {@code service_bus_queues}, by queue.
 * In these names an underscore counts as a hyphen, and the prefix {@code queue-keeper-} is ignored.
 * All mistakes are reported at once.
 */
public final class BindBots {
  /** The top-level keys this class reads. */
  public static final Set<String> SECTIONS =
      Set.of("bots", "bot_config", "session_limits", "service_bus_queues");

  private static final List<String> LIMITS =
      keys(BotKey.MAX_CONCURRENT_SESSIONS, BotKey.QUEUE_DEPTH_THRESHOLD);
  private static final List<String> QUEUE_SETTINGS =
      keys(
          BotKey.SESSIONS_ENABLED,
          BotKey.DUPLICATE_DETECTION_ENABLED,
          BotKey.DUPLICATE_DETECTION_WINDOW,
          BotKey.DEFAULT_MESSAGE_TTL,
          BotKey.MAX_SIZE_IN_MEGABYTES);

  private final BindBot bindBot;
  private final List<ConfigProblem> problems = new ArrayList<>();

  private BindBots(UnaryOperator<String> secrets) {
    this.bindBot = new BindBot(secrets);
  }

  /**
   * Reads the sections named in {@link #SECTIONS} and ignores other keys.
   *
   * @param secrets turns {@code env:NAME} or {@code file:PATH} into the secret, or throws an
   *     IllegalArgumentException whose message says what is missing
   */
  public static BoundBots bind(Map<String, ?> file, UnaryOperator<String> secrets) {
    return new BindBots(secrets).bind(file);
  }

  private BoundBots bind(Map<String, ?> file) {
    var all = values(file);
    addApart(file, "session_limits", LIMITS, all);
    addApart(file, "service_bus_queues", QUEUE_SETTINGS, all);
    var bots = new ArrayList<Bot>();
    for (var values : all) {
      bindBot
          .bind(values)
          .ifPresent(
              bot -> {
                refuseTwin(bot, values, bots);
                bots.add(bot);
              });
    }
    return problems.isEmpty() ? new BoundBots.Valid(bots) : new BoundBots.Invalid(problems);
  }

  private List<BotValues> values(Map<String, ?> file) {
    var all = new ArrayList<BotValues>();
    if (file.get("bots") instanceof List<?> bots) {
      for (int i = 0; i < bots.size(); i++) {
        addBot("bots[" + i + "]", bots.get(i), all);
      }
    } else if (file.get("bots") != null) {
      problems.add(new ConfigProblem("bots", "must be a list of bots"));
    }
    if (file.get("bot_config") != null) {
      addBot("bot_config", file.get("bot_config"), all);
    }
    return all;
  }

  private void addBot(String path, Object bot, List<BotValues> all) {
    var values = new BotValues(path, problems);
    if (bot instanceof Map<?, ?> map) {
      values.add(path, map, Arrays.stream(BotKey.values()).map(BotKey::key).toList());
      all.add(values);
    } else {
      values.note(path, "must be a bot with at least name and events");
    }
  }

  private void addApart(
      Map<String, ?> file, String section, List<String> allowed, List<BotValues> all) {
    if (file.get(section) == null) {
      return;
    }
    if (!(file.get(section) instanceof Map<?, ?> entries)) {
      problems.add(new ConfigProblem(section, "must be a map by name"));
      return;
    }
    entries.forEach(
        (name, settings) -> {
          var path = section + "." + name;
          var bot =
              all.stream().filter(values -> isNamed(values, String.valueOf(name))).findFirst();
          if (!(settings instanceof Map<?, ?> map)) {
            problems.add(new ConfigProblem(path, "must be a map of settings"));
          } else if (bot.isEmpty()) {
            problems.add(new ConfigProblem(path, "names no bot of this file"));
          } else {
            bot.get().add(path, map, allowed);
          }
        });
  }

  private static boolean isNamed(BotValues values, String name) {
    var wanted = canonical(name);
    return values
            .get("name")
            .filter(own -> canonical(String.valueOf(own)).equals(wanted))
            .isPresent()
        || values
            .get("queue")
            .filter(own -> canonical(String.valueOf(own)).equals(wanted))
            .isPresent();
  }

  private static String canonical(String name) {
    var hyphens = name.replace('_', '-').toLowerCase(Locale.ROOT);
    return hyphens.startsWith("queue-keeper-")
        ? hyphens.substring("queue-keeper-".length())
        : hyphens;
  }

  /** Records an error, at this bot, if an earlier bot has the same name or queue. */
  private static void refuseTwin(Bot bot, BotValues values, List<Bot> before) {
    if (before.stream().anyMatch(other -> other.name().equals(bot.name()))) {
      values.note(values.pathOf("name"), "is the name of another bot too: \"" + bot.name() + "\"");
    } else if (before.stream().anyMatch(other -> other.queue().equals(bot.queue()))) {
      values.note(
          values.pathOf(values.has(BotKey.QUEUE) ? "queue" : "name"),
          "is the queue of another bot too: \"" + bot.queue() + "\"; every bot has its own");
    }
  }

  private static List<String> keys(BotKey... keys) {
    return Arrays.stream(keys).map(BotKey::key).toList();
  }
}
