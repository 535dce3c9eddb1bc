package dev.sessionkeeper.server.json;

import java.util.List;

/**
 * Reports refused input, with all errors up to {@link #MOST_ERRORS}. An answer to the caller, not a
 * failure.
 */
public final class InvalidInput extends RuntimeException {
  /** The most errors in one report. */
  public static final int MOST_ERRORS = 100;

  private static final long serialVersionUID = 1;
  private final transient List<FieldError> errors;

  public InvalidInput(List<FieldError> errors) {
    this(List.copyOf(errors.subList(0, Math.min(errors.size(), MOST_ERRORS))), errors.size());
  }

  private InvalidInput(List<FieldError> kept, int found) {
    super(kept + (found > kept.size() ? " and more" : ""), null, false, false);
    this.errors = kept;
  }

  public InvalidInput(String field, String reason) {
    this(List.of(new FieldError(field, reason)));
  }

  public List<FieldError> errors() {
    return errors;
  }
}
