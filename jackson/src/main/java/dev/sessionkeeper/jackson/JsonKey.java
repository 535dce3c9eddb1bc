package dev.sessionkeeper.jackson;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.SessionKeyExtractor;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/**
 * Chooses the session of a message by a value in its JSON payload.
 *
 * <p>The payload is read as a stream, to its end: a payload that is malformed anywhere has no key.
 * If a name is repeated, the last one counts, as in most parsers, so that producer and consumer see
 * the same key.
 */
public final class JsonKey {
  private static final JsonFactory JSON = new JsonFactory();

  private final List<String> path;
  private final JsonParser parser;
  private @Nullable String found;

  private JsonKey(List<String> path, JsonParser parser) {
    this.path = path;
    this.parser = parser;
  }

  /**
   * Returns an extractor of a text, number or boolean at a path such as {@code order.customer.id}
   * or {@code lines.0.sku}. A dot in a name is written {@code \.}. A payload that is not JSON, or
   * has an object, an array, null or nothing at the path, has no key.
   */
  public static SessionKeyExtractor<Message> json(String path) {
    var steps = stepsOf(path);
    return SessionKeyExtractor.by(message -> find(steps, message.payload().asText()).orElse(null));
  }

  static Optional<String> find(List<String> path, String document) {
    try (var parser = JSON.createParser(ObjectReadContext.empty(), document)) {
      parser.nextToken();
      var search = new JsonKey(path, parser);
      search.value(0);
      boolean isWhole = parser.nextToken() == null;
      return isWhole ? Optional.ofNullable(search.found) : Optional.empty();
    } catch (JacksonException malformed) {
      return Optional.empty();
    }
  }

  /** Splits a dotted path. A backslash escapes the next character. */
  static List<String> stepsOf(String path) {
    var steps = new ArrayList<String>();
    var step = new StringBuilder();
    for (int i = 0; i < path.length(); i++) {
      char c = path.charAt(i);
      if (c == '\\' && i + 1 < path.length()) {
        step.append(path.charAt(++i));
      } else if (c == '.') {
        steps.add(step.toString());
        step.setLength(0);
      } else {
        step.append(c);
      }
    }
    steps.add(step.toString());
    if (steps.contains("")) {
      throw new IllegalArgumentException(
          "A JSON path has names between its dots, was \"" + path + "\"");
    }
    return List.copyOf(steps);
  }

  /**
   * Handles the value that begins with the current token.
   *
   * @param matched how many steps of the path lead here; all callers are on the path
   */
  private void value(int matched) {
    found = null;
    var token = parser.currentToken();
    if (matched == path.size()) {
      found = token != null && isScalar(token) ? parser.getString() : null;
      parser.skipChildren();
    } else if (token == JsonToken.START_OBJECT) {
      while (parser.nextToken() != JsonToken.END_OBJECT) {
        var name = parser.currentName();
        parser.nextToken();
        step(matched, name);
      }
    } else if (token == JsonToken.START_ARRAY) {
      for (int index = 0; parser.nextToken() != JsonToken.END_ARRAY; index++) {
        step(matched, Integer.toString(index));
      }
    }
  }

  private void step(int matched, String name) {
    if (path.get(matched).equals(name)) {
      value(matched + 1);
    } else {
      parser.skipChildren();
    }
  }

  private static boolean isScalar(JsonToken token) {
    return token.isScalarValue() && token != JsonToken.VALUE_NULL;
  }
}
