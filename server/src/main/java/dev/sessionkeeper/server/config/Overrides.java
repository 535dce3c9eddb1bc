package dev.sessionkeeper.server.config;

import dev.sessionkeeper.server.json.JsonValue;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Applies environment variables and flags over the file. {@code KEEPER_SERVER_PORT} is {@code
 * server.port}. Precedence: flag, environment, file.
 */
final class Overrides {
  private static final String PREFIX = "KEEPER_";

  private final Map<String, String> places;

  /** Adds the sources of overriding values to the places of the file's values. */
  Overrides(Map<String, String> places) {
    this.places = places;
  }

  /**
   * Returns the root object of the file, with the overriding values of these sections.
   *
   * @param sections the keys of the sections
   * @param flags values by key path, such as {@code server.port}
   */
  JsonValue.Obj apply(
      JsonValue.Obj file,
      Map<String, String> environment,
      Map<String, String> flags,
      Iterable<String> sections) {
    var root = file;
    for (var variable : environment.entrySet()) {
      for (var section : sections) {
        var prefix = PREFIX + section.toUpperCase(Locale.ROOT) + "_";
        if (variable.getKey().startsWith(prefix) && variable.getKey().length() > prefix.length()) {
          var key = variable.getKey().substring(prefix.length()).toLowerCase(Locale.ROOT);
          root = put(root, section, key, variable.getValue(), variable.getKey());
        }
      }
    }
    for (var flag : flags.entrySet()) {
      int dot = flag.getKey().indexOf('.');
      var section = flag.getKey().substring(0, dot);
      var key = flag.getKey().substring(dot + 1);
      root = put(root, section, key, flag.getValue(), "--" + key);
    }
    return root;
  }

  private JsonValue.Obj put(
      JsonValue.Obj root, String section, String key, String value, String where) {
    var members = new LinkedHashMap<>(root.members());
    var inner = members.get(section);
    if (inner != null && !(inner instanceof JsonValue.Obj)) {
      return root; // The file has a wrong type here; its reader reports that.
    }
    var fields = new LinkedHashMap<String, JsonValue>();
    if (inner instanceof JsonValue.Obj object) {
      fields.putAll(object.members());
    }
    fields.put(key, new JsonValue.Word(value, JsonValue.Span.NOWHERE));
    places.put(section + "." + key, where);
    members.put(section, new JsonValue.Obj(fields, JsonValue.Span.NOWHERE));
    return new JsonValue.Obj(members, JsonValue.Span.NOWHERE);
  }
}
