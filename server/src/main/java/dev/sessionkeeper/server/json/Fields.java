package dev.sessionkeeper.server.json;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * The fields of one JSON object. Ask for all of them, then {@link #check}, then take the values: so
 * a caller hears of every bad field at once, unknown ones included.
 *
 * {@snippet :
 * static ReceiveRequest read(Fields in) {
 *   var max = in.optional("max", Decode.integer(1, 1000));
 *   var wait = in.optional("wait", Decode.wait());
 *   in.check();
 *   return new ReceiveRequest(max.get(), wait.get());
 * }
 * }
 */
public final class Fields {
  private final JsonValue.Obj object;
  private final Set<String> asked = new HashSet<>();
  private final List<FieldError> errors = new ArrayList<>();

  Fields(JsonValue.Obj object) {
    this.object = object;
  }

  /**
   * Reads a document that is one object.
   *
   * @throws InvalidInput with all that is wrong
   */
  public static <T> T read(byte[] document, Function<Fields, T> reader) {
    var value = ReadJson.parse(document);
    if (value instanceof JsonValue.Obj object) {
      return reader.apply(new Fields(object));
    }
    throw new InvalidInput("$", "must be an object, was " + value.kind());
  }

  /** Reads texts that came by name, such as the parameters of a query. */
  public static <T> T read(Map<String, String> texts, Function<Fields, T> reader) {
    var nowhere = new JsonValue.Span(new byte[0], 0, 0);
    var members = new LinkedHashMap<String, JsonValue>();
    texts.forEach((name, text) -> members.put(name, new JsonValue.Text(text, nowhere)));
    return reader.apply(new Fields(new JsonValue.Obj(members, nowhere)));
  }

  /** A field that must be there. */
  public <T> Field<T> required(String name, Decoder<T> decoder) {
    asked.add(name);
    var value = object.members().get(name);
    return value == null ? bad(name, "is missing") : decode(name, value, decoder);
  }

  /** A field that may be left out; null is not leaving out. */
  public <T> Field<Optional<T>> optional(String name, Decoder<T> decoder) {
    asked.add(name);
    var value = object.members().get(name);
    return value == null
        ? Field.of(Optional.empty())
        : decode(name, value, decoder.map(Optional::of));
  }

  /** A field with a default. */
  public <T> Field<T> optional(String name, T otherwise, Decoder<T> decoder) {
    asked.add(name);
    var value = object.members().get(name);
    return value == null ? Field.of(otherwise) : decode(name, value, decoder);
  }

  public boolean has(String name) {
    return object.members().containsKey(name);
  }

  /**
   * Refuses a field for a reason that only the reader knows, for example because of another one.
   */
  public void reject(String name, String reason) {
    errors.add(new FieldError(name, reason));
  }

  /**
   * Ends the asking.
   *
   * @throws InvalidInput if a field was bad or was not asked for
   */
  public void check() {
    for (var name : object.members().keySet()) {
      if (!asked.contains(name)) {
        errors.add(new FieldError(Decode.shown(name), "is not a field of this object"));
      }
    }
    if (!errors.isEmpty()) {
      throw new InvalidInput(errors);
    }
  }

  private <T> Field<T> decode(String name, JsonValue value, Decoder<T> decoder) {
    try {
      return Field.of(decoder.decode(value));
    } catch (InvalidInput e) {
      e.errors().forEach(error -> errors.add(error.inside(name)));
      return Field.bad(e.errors().getFirst());
    }
  }

  private <T> Field<T> bad(String name, String reason) {
    var error = new FieldError(name, reason);
    errors.add(error);
    return Field.bad(error);
  }
}
