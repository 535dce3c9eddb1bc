package dev.sessionkeeper.server.http;

import dev.sessionkeeper.server.json.FieldError;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The reason why a request was not served, in the form of RFC 9457. Immutable; throw it with {@link
 * #toException}.
 *
 * @param extensions further members of the document
 */
public record Problem(
    ProblemType type,
    String detail,
    List<FieldError> errors,
    Map<String, Object> extensions,
    Map<String, String> headers) {
  /** The most errors that a document lists. */
  static final int MOST_ERRORS = 20;

  public Problem {
    errors = List.copyOf(errors);
    extensions = Map.copyOf(extensions);
    headers = Map.copyOf(headers);
  }

  public static Problem of(ProblemType type, String detail) {
    return new Problem(type, detail, List.of(), Map.of(), Map.of());
  }

  /**
   * Returns the problem of invalid input, one entry per field, up to {@link #MOST_ERRORS}; the
   * detail counts the rest.
   */
  public static Problem invalid(List<FieldError> errors) {
    var shown = errors.subList(0, Math.min(errors.size(), MOST_ERRORS));
    int hidden = errors.size() - shown.size();
    var detail = errors.size() == 1 ? sentence(errors.getFirst()) : summary(errors, hidden);
    return new Problem(ProblemType.INVALID_REQUEST, detail, shown, Map.of(), Map.of());
  }

  private static String sentence(FieldError error) {
    boolean isBody = error.field().isEmpty() || error.field().equals("$");
    boolean isSentence = Character.isUpperCase(error.reason().codePointAt(0));
    return (isBody ? "The body" : error.field()) + (isSentence ? ": " : " ") + error.reason();
  }

  private static String summary(List<FieldError> errors, int hidden) {
    var names = errors.stream().map(FieldError::field).distinct().limit(5).toList();
    return errors.size()
        + " errors found: "
        + String.join(", ", names)
        + (errors.size() > 5 ? ", …" : "")
        + (hidden > 0 ? "; " + hidden + " of them are not listed" : "");
  }

  public static Problem invalid(String field, String reason) {
    return invalid(List.of(new FieldError(field, reason)));
  }

  public Problem and(String member, Object value) {
    var more = new LinkedHashMap<>(extensions);
    more.put(member, value);
    return new Problem(type, detail, errors, more, headers);
  }

  public Problem header(String name, String value) {
    var more = new LinkedHashMap<>(headers);
    more.put(name, value);
    return new Problem(type, detail, errors, extensions, more);
  }

  /** Returns the problem with a Retry-After header in whole seconds, at least one. */
  public Problem retryAfter(Duration delay) {
    return header("Retry-After", String.valueOf(Math.max(1, delay.plusMillis(999).toSeconds())));
  }

  /** Returns the problem with a Retry-After of one second. */
  public Problem retrySoon() {
    return retryAfter(Duration.ofSeconds(1));
  }

  public ProblemException toException() {
    return new ProblemException(this);
  }

  /** The document, ready to be written as JSON. */
  Map<String, Object> document(String correlationId) {
    var document = new LinkedHashMap<String, Object>();
    document.put("type", type.uri());
    document.put("title", type.title());
    document.put("status", type.status());
    document.put("detail", detail);
    document.put("correlationId", correlationId);
    if (!errors.isEmpty()) {
      document.put("errors", new ArrayList<>(errors));
    }
    document.putAll(extensions);
    return document;
  }
}
