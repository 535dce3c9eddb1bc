package dev.sessionkeeper.postgres.row;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Encodes a message's properties as the text of a JSON object, which operators can read in the
 * table. Characters that PostgreSQL texts cannot hold are escaped.
 */
public final class PropertyText {
  private final String text;
  private int at;

  private PropertyText(String text) {
    this.text = text;
  }

  /** Returns the JSON object; null if there are no properties. */
  public static @Nullable String of(Map<String, String> properties) {
    if (properties.isEmpty()) {
      return null;
    }
    var json = new StringBuilder("{");
    for (var property : new TreeMap<>(properties).entrySet()) {
      if (json.length() > 1) {
        json.append(',');
      }
      quote(json, property.getKey());
      json.append(':');
      quote(json, property.getValue());
    }
    return json.append('}').toString();
  }

  public static Map<String, String> parse(@Nullable String json) {
    return json == null ? Map.of() : new PropertyText(json).object();
  }

  private static void quote(StringBuilder json, String value) {
    json.append('"');
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (c == '"' || c == '\\') {
        json.append('\\').append(c);
      } else if (c < 0x20 || Character.isSurrogate(c)) {
        json.append(String.format("\\u%04x", (int) c));
      } else {
        json.append(c);
      }
    }
    json.append('"');
  }

  private Map<String, String> object() {
    var properties = new HashMap<String, String>();
    at = 1;
    while (text.charAt(at) != '}') {
      if (text.charAt(at) == ',') {
        at++;
      }
      var name = string();
      at++;
      properties.put(name, string());
    }
    return properties;
  }

  private String string() {
    var value = new StringBuilder();
    for (at++; text.charAt(at) != '"'; at++) {
      char c = text.charAt(at);
      if (c != '\\') {
        value.append(c);
      } else if (text.charAt(++at) == 'u') {
        value.append((char) Integer.parseInt(text.substring(at + 1, at + 5), 16));
        at += 4;
      } else {
        value.append(text.charAt(at));
      }
    }
    at++;
    return value.toString();
  }
}
