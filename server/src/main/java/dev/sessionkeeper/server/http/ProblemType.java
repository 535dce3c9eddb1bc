package dev.sessionkeeper.server.http;

import java.util.Locale;

/**
 * All problem types of the API. The names are stable: clients branch on the type, never on the
 * text. docs/reference/problems.md is checked against it.
 */
public enum ProblemType {
  INVALID_REQUEST(400, "The request is not valid", "errors[] names every field and why."),
  INVALID_PATH(400, "The path is not valid", "Bad escapes, control characters or dot segments."),
  INVALID_CURSOR(400, "The cursor was not issued by this list", "Start again without cursor."),
  MALFORMED_HTTP(400, "Malformed HTTP request", "The connection is closed."),
  UNAUTHENTICATED(401, "A credential is needed", "Missing, wrong or expired key or token."),
  FORBIDDEN(403, "The credential does not allow this", "The detail names the role that does."),
  NOT_FOUND(404, "There is nothing here", "Unknown, or not visible to this credential."),
  UNKNOWN_QUEUE(404, "There is no such queue", "Unknown, or not visible to this credential."),
  METHOD_NOT_ALLOWED(405, "This path does not take this method", "The Allow header says which."),
  REQUEST_TIMEOUT(408, "The request did not arrive in time", "Send it again."),
  SESSION_LOCKED(409, "Another owner holds the session", "lockedUntil says for how long."),
  SESSION_SET_ASIDE(409, "The session is paused or parked", "An operator has to resume it."),
  SESSION_LIMIT_REACHED(409, "The bot of the queue allows no more", "limit says which key."),
  SESSION_MODE_MISMATCH(
      409, "The queue's mode does not fit", "ORDERED needs sessions, UNORDERED has none."),
  QUEUE_CONFLICT(409, "The queue exists with another mode", "The mode of a queue cannot change."),
  OUT_OF_ORDER(409, "An earlier message of the session is open", "Nothing was changed."),
  STALE_STATE(409, "Someone has written a newer state", "Nothing was changed; read and decide."),
  CONFLICT(409, "The state of the thing does not allow this", "Nothing was changed."),
  TENANT_MISMATCH(409, "It belongs to another tenant", "Nothing was changed."),
  SUBSCRIBER_LIMIT(
      409, "There are too many named subscribers", "limit and allowed say which and how many."),
  NOT_SUPPORTED(409, "The queue's provider cannot do this", "provider and capability say what."),
  SESSION_LOCK_LOST(
      410, "The lease is no longer held", "Nothing was changed; the next owner gets the work."),
  PRECONDITION_FAILED(412, "If-Match does not match", "Nothing was changed; read it again."),
  TOO_LARGE(413, "Too large", "limit, allowed and actual say how much."),
  TARGET_TOO_LONG(414, "The request line is too long", "Put long values into the body."),
  UNSUPPORTED_MEDIA_TYPE(415, "The body has a type this path does not take", "See the detail."),
  MISDIRECTED(421, "This server does not answer for that host", "Use the address it printed."),
  REJECTED(422, "The provider refuses this for good", "The detail has its reason."),
  RATE_LIMITED(429, "Too many requests with this credential", "Retry-After says when."),
  HEADERS_TOO_LARGE(431, "The request's headers are too large", "Send fewer or shorter ones."),
  INTERNAL_ERROR(500, "Something went wrong here", "The log has it under correlationId."),
  OUTCOME_UNKNOWN(503, "It may or may not have taken effect", "Look before repeating it."),
  UNAVAILABLE(503, "The store does not answer", "Nothing was changed; try again."),
  OVERLOADED(503, "Too much at once", "Nothing was taken; slow down and try again.");

  private static final String BASE = "https://sessionkeeper.dev/problems/";

  private final int status;
  private final String title;
  private final String advice;

  ProblemType(int status, String title, String advice) {
    this.status = status;
    this.title = title;
    this.advice = advice;
  }

  public int status() {
    return status;
  }

  public String title() {
    return title;
  }

  /** Returns the advice to the caller, for the reference page. */
  public String advice() {
    return advice;
  }

  /** Returns the last part of the type's address: {@code session-locked}. */
  public String slug() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  public String uri() {
    return BASE + slug();
  }

  public Problem with(String detail) {
    return Problem.of(this, detail);
  }
}
