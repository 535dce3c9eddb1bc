package dev.sessionkeeper.server.json;

/**
 * A mistake in one field.
 *
 * @param field its JSON name, with a path where it is nested: {@code messages[3].ttl}
 */
public record FieldError(String field, String reason) {

  /** The same error seen from the object around it. */
  FieldError inside(String outer) {
    var joined = field.isEmpty() || field.startsWith("[") ? outer + field : outer + "." + field;
    return new FieldError(joined, reason);
  }
}
