package dev.sessionkeeper.server.config;

import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Field;
import dev.sessionkeeper.server.json.FieldError;
import dev.sessionkeeper.server.json.Fields;
import dev.sessionkeeper.server.json.InvalidInput;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;

/** A valid configuration: every section read, every secret resolved. */
public final class KeeperConfig {
  /** Shown in place of a value that is a document of its own. */
  private static final String IN_FILE = "see the file";

  private final Map<ConfigSection<?>, Object> values;
  private final Map<String, Object> keys;
  private final Map<String, String> places;
  private final List<String> warnings;

  private KeeperConfig(
      Map<ConfigSection<?>, Object> values,
      Map<String, Object> keys,
      Map<String, String> places,
      List<String> warnings) {
    this.values = values;
    this.keys = keys;
    this.places = Map.copyOf(places);
    this.warnings = List.copyOf(warnings);
  }

  /** Checks keys of different sections against each other. */
  public interface Checks {
    List<FieldError> errors(KeeperConfig config);

    List<String> warnings(KeeperConfig config);
  }

  /**
   * Reads the sources.
   *
   * @param sections all that may appear; any other top-level key is an error
   * @throws InvalidConfig with all that is wrong
   */
  public static KeeperConfig read(
      ConfigSources sources, List<ConfigSection<?>> sections, Checks checks) {
    var yaml = ReadYaml.parse(sources.name(), sources.text());
    var places = new HashMap<>(yaml.places());
    var keys = sections.stream().map(ConfigSection::key).toList();
    var root =
        new Overrides(places).apply(yaml.root(), sources.environment(), sources.flags(), keys);
    var context = new ConfigContext(sources.environment(), sources.folder());
    var errors = new ArrayList<>(yaml.errors());
    try {
      var config = Decode.object(in -> readAll(in, context, sections, checks, places)).decode(root);
      if (errors.isEmpty()) {
        checks.errors(config).forEach(error -> errors.add(locate(error, places, sources.name())));
      }
      if (errors.isEmpty()) {
        return config;
      }
    } catch (InvalidInput e) {
      e.errors().forEach(error -> errors.add(locate(error, places, sources.name())));
    }
    throw new InvalidConfig(errors);
  }

  private static KeeperConfig readAll(
      Fields in,
      ConfigContext context,
      List<ConfigSection<?>> sections,
      Checks checks,
      Map<String, String> places) {
    var fields = new LinkedHashMap<ConfigSection<?>, Field<? extends ConfigSection.Read<?>>>();
    for (var section : sections) {
      fields.put(section, ask(in, context, section));
    }
    in.check();
    var values = new LinkedHashMap<ConfigSection<?>, Object>();
    var keys = new LinkedHashMap<String, Object>();
    fields.forEach(
        (section, field) -> {
          values.put(section, field.get().value());
          keys.putAll(field.get().keys());
        });
    var config = new KeeperConfig(values, keys, places, context.warnings());
    checks.warnings(config).forEach(context::warn);
    return new KeeperConfig(values, keys, places, context.warnings());
  }

  private static <T> Field<ConfigSection.Read<T>> ask(
      Fields in, ConfigContext context, ConfigSection<T> section) {
    if (!section.keys().isEmpty()) {
      return in.together(section.keys(), section.decoder(context));
    }
    return in.has(section.key())
        ? in.required(section.key(), section.decoder(context))
        : in.optional(section.key(), section.absent(context), section.decoder(context));
  }

  /** Returns the place of an error. A missing key has none, so the object around it is named. */
  private static ConfigError locate(FieldError error, Map<String, String> places, String file) {
    for (var path = error.field(); !path.isEmpty(); path = outer(path)) {
      var place = places.get(path);
      if (place != null) {
        return new ConfigError(place, error.field(), error.reason());
      }
    }
    return new ConfigError(file, error.field(), error.reason());
  }

  private static String outer(String path) {
    int cut = Math.max(path.lastIndexOf('.'), path.lastIndexOf('['));
    return cut < 0 ? "" : path.substring(0, cut);
  }

  /** The value of a section; its defaults where it was left out. */
  @SuppressWarnings("unchecked") // readAll puts under a section what that section's decoder gave
  public <T> T get(ConfigSection<T> section) {
    var value = values.get(section);
    if (value == null) {
      throw new IllegalArgumentException("No section was read for " + section.key());
    }
    return (T) value;
  }

  /** Returns whether the section was read; tests read fewer than all. */
  public boolean has(ConfigSection<?> section) {
    return values.containsKey(section);
  }

  /** Returns all keys of the sections with their rules, in the order of the sections. */
  public static List<ConfigKey> keys(List<ConfigSection<?>> sections) {
    return sections.stream()
        .flatMap(section -> section.declared().values().stream())
        .map(ConfigKey.Declared::key)
        .toList();
  }

  /** Returns the keys whose values differ from those in force. */
  public List<ConfigChange> changesFrom(KeeperConfig inForce) {
    var changes = new ArrayList<ConfigChange>();
    keys.forEach(
        (path, after) -> {
          var before = inForce.keys.get(path);
          if (!after.equals(before)) {
            boolean canReload = before != null && declared(path).canReload().test(before, after);
            changes.add(new ConfigChange(path, !canReload));
          }
        });
    return changes;
  }

  private ConfigKey.Declared declared(String path) {
    return values.keySet().stream()
        .map(section -> section.declared().get(path))
        .filter(Objects::nonNull)
        .findFirst()
        .orElseGet(() -> ConfigKey.restart(path));
  }

  /**
   * Returns the configuration in force after this one was applied. Keys that need a restart keep
   * their old values, so the next reload names them again.
   */
  public KeeperConfig takenOverFrom(KeeperConfig inForce) {
    var effective = new LinkedHashMap<>(keys);
    changesFrom(inForce).stream()
        .filter(ConfigChange::needsRestart)
        .forEach(
            change ->
                effective.computeIfPresent(
                    change.path(), (path, after) -> inForce.keys.getOrDefault(path, after)));
    return new KeeperConfig(values, effective, places, warnings);
  }

  /** Returns the keys and their values as text for people; secrets are masked. */
  public Map<String, String> shown() {
    var shown = new java.util.TreeMap<String, String>();
    keys.forEach(
        (path, value) -> {
          boolean isDocument = path.equals("bots") || path.startsWith("security.");
          var text = isDocument ? IN_FILE : text(value);
          shown.put(path, text.equals(IN_FILE) && !places.containsKey(path) ? "" : text);
        });
    return shown;
  }

  /** Returns where each key that is not at its default was set: a line, a variable or a flag. */
  public Map<String, String> places() {
    var known = new java.util.TreeMap<String, String>();
    keys.keySet()
        .forEach(
            path -> {
              var place = places.get(path);
              if (place != null) {
                known.put(path, place);
              }
            });
    return known;
  }

  private static String text(Object value) {
    return switch (value) {
      case Optional<?> some -> some.map(item -> text(item)).orElse("");
      case Duration duration -> units(duration);
      case Collection<?> list -> joined(list);
      case Record section -> IN_FILE;
      case Enum<?> word -> word.name().toLowerCase(Locale.ROOT);
      default -> withoutQuery(String.valueOf(value));
    };
  }

  private static String joined(Collection<?> list) {
    boolean isDocument = list.stream().anyMatch(Record.class::isInstance);
    return isDocument
        ? IN_FILE
        : list.stream().map(item -> text(item)).collect(Collectors.joining(", "));
  }

  /** Formats a duration as the file writes it: 8h, 90s. */
  private static String units(Duration duration) {
    if (duration.isZero()) {
      return "0s";
    }
    long millis = duration.toMillis();
    if (millis % 1000 != 0) {
      return millis + "ms";
    }
    long seconds = millis / 1000;
    if (seconds % 86_400 == 0) {
      return seconds / 86_400 + "d";
    }
    if (seconds % 3600 == 0) {
      return seconds / 3600 + "h";
    }
    return seconds % 60 == 0 ? seconds / 60 + "m" : seconds + "s";
  }

  /** Removes the parameters of an address, which may hold a password. */
  private static String withoutQuery(String text) {
    return text.contains("://") && text.indexOf('?') >= 0
        ? text.substring(0, text.indexOf('?'))
        : text;
  }

  /** Returns warnings for the operator, such as secrets in the file itself. */
  public List<String> warnings() {
    return warnings;
  }
}
