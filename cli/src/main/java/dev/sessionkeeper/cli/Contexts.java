package dev.sessionkeeper.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Named servers with the files that a caller needs for each, in a file of the user. The file
 * contains no key, only the path of a key file.
 *
 * @param current the context that is used unless a command names another; blank if none is
 * @param all the settings of each context: {@code url}, {@code keyFile}, {@code ca}, {@code cert},
 *     {@code certKey}
 */
record Contexts(String current, Map<String, Map<String, String>> all) {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  /**
   * Returns the file of this user's contexts: {@code $KEEPER_CONTEXTS}, otherwise below the home
   * folder.
   */
  static Path file(Map<String, String> environment) {
    var named = environment.getOrDefault("KEEPER_CONTEXTS", "");
    if (!named.isEmpty()) {
      return Path.of(named);
    }
    var config = environment.getOrDefault("XDG_CONFIG_HOME", "");
    var base =
        config.isEmpty()
            ? Path.of(environment.getOrDefault("HOME", System.getProperty("user.home")), ".config")
            : Path.of(config);
    return base.resolve("keeper").resolve("contexts.json");
  }

  /** Reads the file; a missing file counts as an empty one. */
  static Contexts read(Path file) {
    try {
      var document = JSON.readTree(Files.readString(file));
      var all = new TreeMap<String, Map<String, String>>();
      document
          .path("contexts")
          .properties()
          .forEach(context -> all.put(context.getKey(), settings(context.getValue())));
      return new Contexts(document.path("current").asString(""), all);
    } catch (NoSuchFileException e) {
      return new Contexts("", Map.of());
    } catch (IOException | JacksonException e) {
      throw new IllegalArgumentException(
          "The contexts in " + file + " cannot be read: " + e.getMessage(), e);
    }
  }

  private static Map<String, String> settings(JsonNode context) {
    var settings = new LinkedHashMap<String, String>();
    context.properties().forEach(each -> settings.put(each.getKey(), each.getValue().asString("")));
    return settings;
  }

  /** Returns the context of this name, or the current one; empty if none is chosen. */
  Optional<Map<String, String>> chosen(Optional<String> name) {
    var wanted = name.orElse(current);
    if (wanted.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        Optional.ofNullable(all.get(wanted))
            .orElseThrow(
                () ->
                    new IllegalArgumentException(
                        "There is no context " + wanted + "; known are " + all.keySet())));
  }

  Contexts with(String name, Map<String, String> settings) {
    var more = new TreeMap<>(all);
    more.put(name, Map.copyOf(settings));
    return new Contexts(current.isEmpty() ? name : current, more);
  }

  Contexts without(String name) {
    var fewer = new TreeMap<>(all);
    if (fewer.remove(name) == null) {
      throw new IllegalArgumentException("There is no context " + name);
    }
    return new Contexts(current.equals(name) ? "" : current, fewer);
  }

  Contexts using(String name) {
    var unused = chosen(Optional.of(name));
    return new Contexts(name, all);
  }

  ObjectNode json() {
    var document = JSON.createObjectNode();
    document.put("current", current);
    var contexts = document.putObject("contexts");
    all.forEach((name, settings) -> contexts.set(name, JSON.valueToTree(settings)));
    return document;
  }

  /** Writes the file atomically, and readable by the user only. */
  void write(Path file) {
    try {
      var folder = file.toAbsolutePath().getParent();
      Files.createDirectories(folder);
      var next =
          Files.createTempFile(
              folder,
              "contexts",
              ".json",
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      Files.writeString(next, json().toPrettyString() + "\n");
      Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new IllegalArgumentException(file + " cannot be written: " + e.getMessage(), e);
    }
  }
}
