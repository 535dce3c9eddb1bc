package dev.sessionkeeper.server.json;

import java.util.function.Function;

/** Converts a JSON value, or explains why it cannot. Nothing is coerced: "2" is not 2. */
@FunctionalInterface
public interface Decoder<T> {

  /**
   * Decodes the value.
   *
   * @throws InvalidInput with one error, or several for an object or list; fields are named
   *     relative to this value
   */
  T decode(JsonValue value);

  /** Returns a decoder whose errors name this field. */
  default Decoder<T> at(String name) {
    return value -> {
      try {
        return decode(value);
      } catch (InvalidInput e) {
        throw new InvalidInput(
            e.errors().stream()
                .map(error -> error.field().isEmpty() ? error.inside(name) : error)
                .toList());
      }
    };
  }

  /** Returns a decoder that maps the value; an IllegalArgumentException refuses the value. */
  default <R> Decoder<R> map(Function<? super T, ? extends R> next) {
    return value -> {
      var decoded = decode(value);
      try {
        return next.apply(decoded);
      } catch (IllegalArgumentException e) {
        throw new InvalidInput("", String.valueOf(e.getMessage()));
      }
    };
  }
}
