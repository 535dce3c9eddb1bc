package dev.sessionkeeper.server.json;

/**
 * A mistake in one field.
 *
 * @param field its JSON name, with a path if it is nested: {@code messages[3].ttl}
 */
public record FieldError(String field, String reason) {

  /** Returns the same error relative to the enclosing object. */
  FieldError inside(String outer) {
    var joined = field.isEmpty() || field.startsWith("[") ? outer + field : outer + "." + field;
    return new FieldError(joined, reason);
  }
}
