package dev.sessionkeeper.server.json;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Reads the fields of one object. First name all fields, then call {@link #check}, then read the
 * values: so a caller learns of every bad field at once, including unknown ones.
 *
 * {@snippet :
 * static ReceiveRequest read(Fields in) {
 *   var max = in.optional("max", Decode.integer(1, 1000));
 *   var wait = in.optional("wait", Decode.duration(Duration.ZERO, Duration.ofSeconds(60)));
 *   in.check();
 *   return new ReceiveRequest(max.get(), wait.get());
 * }
 * }
 */
public final class Fields {
  private final Map<String, JsonValue> members;
  private final Set<String> asked = new LinkedHashSet<>();
  private final List<FieldError> errors = new ArrayList<>();
  private final Map<String, Object> decoded = new LinkedHashMap<>();

  Fields(JsonValue.Obj object) {
    this.members = object.members();
  }

  /**
   * Reads a document that is one object.
   *
   * @throws InvalidInput with all errors
   */
  public static <T> T read(byte[] document, Function<Fields, T> reader) {
    return Decode.object(reader).at("$").decode(ReadJson.parse(document));
  }

  /** Reads texts by name, such as the parameters of a query. */
  public static <T> T read(Map<String, String> texts, Function<Fields, T> reader) {
    var words = new LinkedHashMap<String, JsonValue>();
    texts.forEach(
        (name, text) -> words.put(name, new JsonValue.Word(text, JsonValue.Span.NOWHERE)));
    return reader.apply(new Fields(new JsonValue.Obj(words, JsonValue.Span.NOWHERE)));
  }

  /** Names a field that must be present. */
  public <T> Field<T> required(String name, Decoder<T> decoder) {
    var value = ask(name);
    if (value == null) {
      var missing = new FieldError(name, "is missing");
      errors.add(missing);
      return Field.bad(missing);
    }
    return decode(name, value, decoder);
  }

  /** Names a field that may be absent; null does not count as absent. */
  public <T> Field<Optional<T>> optional(String name, Decoder<T> decoder) {
    return optional(name, Optional.empty(), decoder.map(Optional::of));
  }

  /** Names a field with a default. */
  public <T> Field<T> optional(String name, T otherwise, Decoder<T> decoder) {
    var value = ask(name);
    if (value == null) {
      decoded.put(name, otherwise);
      return Field.of(otherwise);
    }
    return decode(name, value, decoder);
  }

  /** Names fields that only make sense together; their errors are relative to this object. */
  public <T> Field<T> together(Collection<String> names, Decoder<T> decoder) {
    var some = new LinkedHashMap<String, JsonValue>();
    for (var name : names) {
      var value = ask(name);
      if (value != null) {
        some.put(name, value);
      }
    }
    try {
      return Field.of(decoder.decode(new JsonValue.Obj(some, JsonValue.Span.NOWHERE)));
    } catch (InvalidInput e) {
      errors.addAll(e.errors());
      return Field.bad(e.errors().getFirst());
    }
  }

  public boolean has(String name) {
    return members.containsKey(name);
  }

  /**
   * Refuses a field for a reason that only the caller of this method knows, for example because of
   * another field.
   */
  public void reject(String name, String reason) {
    errors.add(new FieldError(name, reason));
  }

  /**
   * Reports all errors, including fields that no reader named.
   *
   * @throws InvalidInput if there is an error
   */
  public void check() {
    for (var name : members.keySet()) {
      if (!asked.contains(name)) {
        var meant = Similar.to(name, asked).map(other -> "; did you mean " + other + "?");
        errors.add(new FieldError(Decode.shown(name), "is not known here" + meant.orElse("")));
      }
    }
    if (!errors.isEmpty()) {
      throw new InvalidInput(errors);
    }
  }

  /** Returns the values of all named fields, including defaults. */
  public Map<String, Object> decoded() {
    return new LinkedHashMap<>(decoded);
  }

  private @Nullable JsonValue ask(String name) {
    asked.add(name);
    return members.get(name);
  }

  private <T> Field<T> decode(String name, JsonValue value, Decoder<T> decoder) {
    try {
      var result = decoder.decode(value);
      decoded.put(name, result);
      return Field.of(result);
    } catch (InvalidInput e) {
      e.errors().forEach(error -> errors.add(error.inside(name)));
      return Field.bad(e.errors().getFirst());
    }
  }
}
