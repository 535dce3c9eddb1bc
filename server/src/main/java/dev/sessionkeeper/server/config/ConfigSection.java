package dev.sessionkeeper.server.config;

import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Decoder;
import dev.sessionkeeper.server.json.Fields;
import dev.sessionkeeper.server.json.JsonValue;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.BiPredicate;
import java.util.function.Function;

/**
 * One top-level key of the configuration and its reader. A feature declares its own section as a
 * constant, {@code ReadConfig} names all of them, and {@link KeeperConfig#get} gives the value
 * back.
 *
 * <p>A section also declares which of its keys a reload can change. Reload, the manual and the
 * tests all read that declaration.
 *
 * {@snippet :
 * record JobsConfig(Duration lease, Duration retention) {
 *   static final ConfigSection<JobsConfig> SECTION =
 *       ConfigSection.of("jobs", JobsConfig::read).reload("retention").restart("lease");
 *
 *   static JobsConfig read(Fields in, ConfigContext context) {
 *     var lease = in.optional("lease", Duration.ofSeconds(15), Decode.duration(SECOND, HOUR));
 *     var kept = in.optional("retention", Duration.ofDays(90), Decode.duration(SECOND, YEAR));
 *     in.check();
 *     return new JobsConfig(lease.get(), kept.get());
 *   }
 * }
 * }
 */
public final class ConfigSection<T> {
  private final String key;
  private final Set<String> together;
  private final Function<ConfigContext, Decoder<Read<T>>> decoder;
  private final Map<String, ConfigKey.Declared> declared;

  private ConfigSection(
      String key,
      Set<String> together,
      Function<ConfigContext, Decoder<Read<T>>> decoder,
      Map<String, ConfigKey.Declared> declared) {
    this.key = key;
    this.together = together;
    this.decoder = decoder;
    this.declared = declared;
  }

  /**
   * A section that was read.
   *
   * @param keys the value of each key, by its full path; a reload compares them
   */
  record Read<T>(T value, Map<String, Object> keys) {}

  /**
   * Declares a section that is one object. If the file leaves it out, the reader gets an empty
   * object and returns the defaults.
   */
  public static <T> ConfigSection<T> of(String key, BiFunction<Fields, ConfigContext, T> reader) {
    return new ConfigSection<>(
        key,
        Set.of(),
        context -> Decode.object(in -> read(key, in, reader.apply(in, context))),
        Map.of());
  }

  private static <T> Read<T> read(String section, Fields in, T value) {
    var keys = new LinkedHashMap<String, Object>();
    in.decoded().forEach((name, decoded) -> keys.put(section + "." + name, decoded));
    return new Read<>(value, keys);
  }

  /**
   * Declares several top-level keys that only make sense together. The reader gets those that are
   * present, and names full paths in its errors. A reload applies all of them, or none.
   */
  public static <T> ConfigSection<T> together(
      String key, Set<String> keys, BiFunction<JsonValue.Obj, ConfigContext, T> reader) {
    return new ConfigSection<>(
        key,
        keys,
        context -> value -> readTogether(key, value, context, reader),
        Map.of(key, ConfigKey.reload(key)));
  }

  /** Returns the value as written, without its position in the file. */
  private static Object content(JsonValue value) {
    return switch (value) {
      case JsonValue.Obj object -> {
        var members = new LinkedHashMap<String, Object>();
        object.members().forEach((name, member) -> members.put(name, content(member)));
        yield members;
      }
      case JsonValue.Arr list -> list.items().stream().map(ConfigSection::content).toList();
      case JsonValue.Text text -> text.value();
      case JsonValue.Word word -> word.value();
      case JsonValue.Num number -> number.literal();
      case JsonValue.Bool bool -> bool.value();
      case JsonValue.Null nothing -> List.of();
    };
  }

  private static <T> Read<T> readTogether(
      String key,
      JsonValue value,
      ConfigContext context,
      BiFunction<JsonValue.Obj, ConfigContext, T> reader) {
    var file = value instanceof JsonValue.Obj all ? all : ReadYaml.EMPTY;
    int before = context.resolved().size();
    var read = reader.apply(file, context);
    var secrets = context.resolved().subList(before, context.resolved().size());
    // Compares the text as written and the secrets it names, so the values themselves need no
    // equality.
    return new Read<>(read, Map.of(key, List.of(content(file), secrets)));
  }

  /** Declares keys that a reload can change. */
  public ConfigSection<T> reload(String... names) {
    var result = this;
    for (var name : names) {
      result = result.with(name, ConfigKey.reload(key + "." + name));
    }
    return result;
  }

  /** Declares keys whose change needs a restart. */
  public ConfigSection<T> restart(String... names) {
    var result = this;
    for (var name : names) {
      result = result.with(name, ConfigKey.restart(key + "." + name));
    }
    return result;
  }

  /**
   * Declares a key that a reload can change, but not in every way.
   *
   * @param note names the changes that need a restart
   * @param canReload is given the value before and the value after
   */
  public ConfigSection<T> reload(String name, String note, BiPredicate<Object, Object> canReload) {
    var path = key + "." + name;
    return with(
        name, new ConfigKey.Declared(new ConfigKey(path, ConfigKey.Rule.RELOAD, note), canReload));
  }

  private ConfigSection<T> with(String name, ConfigKey.Declared added) {
    var all = new LinkedHashMap<>(declared);
    if (all.put(key + "." + name, added) != null) {
      throw new IllegalArgumentException(key + "." + name + " is declared twice");
    }
    return new ConfigSection<>(key, together, decoder, all);
  }

  public String key() {
    return key;
  }

  /** Returns the declared rules of the keys, by their full paths. */
  Map<String, ConfigKey.Declared> declared() {
    return declared;
  }

  /** Returns the keys that are read together; empty for a section of one key. */
  Set<String> keys() {
    return together;
  }

  Decoder<Read<T>> decoder(ConfigContext context) {
    return decoder.apply(context);
  }

  Read<T> absent(ConfigContext context) {
    return decoder.apply(context).decode(ReadYaml.EMPTY);
  }
}
