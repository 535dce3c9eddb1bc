package dev.sessionkeeper.server.json;

import java.util.List;

/** Input that was refused, with all that is wrong with it. An answer, not a failure. */
public final class InvalidInput extends RuntimeException {
  private static final long serialVersionUID = 1;
  private final transient List<FieldError> errors;

  public InvalidInput(List<FieldError> errors) {
    super(errors.toString(), null, false, false);
    this.errors = List.copyOf(errors);
  }

  public InvalidInput(String field, String reason) {
    this(List.of(new FieldError(field, reason)));
  }

  public List<FieldError> errors() {
    return errors;
  }
}
