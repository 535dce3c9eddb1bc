package dev.sessionkeeper.server.http;

import java.util.Locale;

/**
 * All problem types of the API. The names are stable: clients branch on the type, never on the
 * text. docs/reference/problems.md is checked against it.
 */
public enum ProblemType {
  INVALID_REQUEST(
      400,
      "The request is not valid",
      "Correct the fields that errors[] names, each with its reason."),
  INVALID_PATH(
      400, "The path is not valid", "Remove bad escapes, control characters and dot segments."),
  INVALID_CURSOR(
      400,
      "The cursor was not issued by this list",
      "Begin again with the first page, without a cursor."),
  MALFORMED_HTTP(
      400, "Malformed HTTP request", "Send valid HTTP/1.1. The server closes the connection."),
  UNAUTHENTICATED(
      401,
      "A credential is needed",
      "Send a valid key or token; yours is missing, wrong or expired."),
  FORBIDDEN(
      403,
      "The credential does not allow this",
      "Use a credential with the role that the detail names."),
  NOT_FOUND(
      404,
      "There is no such object",
      "Check the id; the object may also be invisible to this credential."),
  UNKNOWN_QUEUE(
      404,
      "There is no such queue",
      "Check the name; the queue may also be invisible to this credential."),
  METHOD_NOT_ALLOWED(
      405, "This path does not take this method", "Use a method that the Allow header names."),
  REQUEST_TIMEOUT(408, "The request did not arrive in time", "Send the request again."),
  SESSION_LOCKED(
      409, "Another owner holds the session", "Wait until lockedUntil, or take another session."),
  SESSION_SET_ASIDE(
      409, "The session is paused or parked", "Ask an operator to resume the session."),
  SESSION_LIMIT_REACHED(
      409,
      "A limit of the queue's bot is reached",
      "limit names the key of the configuration; raise it, or release sessions."),
  SESSION_MODE_MISMATCH(
      409,
      "The call does not fit the queue's mode",
      "Name a session for an ORDERED queue, and none for an UNORDERED queue."),
  QUEUE_CONFLICT(
      409,
      "The queue exists with another mode",
      "Use another name; the mode of a queue cannot change."),
  OUT_OF_ORDER(
      409,
      "An earlier message of the session is open",
      "Settle the earlier message first. Nothing was changed."),
  STALE_STATE(
      409,
      "The state has a newer version",
      "Read the state and decide again. Nothing was changed."),
  CONFLICT(
      409,
      "The state of the object does not allow this",
      "See the detail for the reason. Nothing was changed."),
  TENANT_MISMATCH(409, "The object belongs to another tenant", "Nothing was changed."),
  SUBSCRIBER_LIMIT(
      409,
      "There are too many named subscribers",
      "Use fewer names; limit and allowed name the limit that is reached."),
  NOT_SUPPORTED(
      409,
      "The queue's provider cannot do this",
      "Use another provider; capability names what this one lacks."),
  SESSION_LOCK_LOST(
      410,
      "The lease is no longer held",
      "Stop working on the session. Nothing was changed; the next owner gets the messages."),
  PRECONDITION_FAILED(
      412,
      "If-Match does not match",
      "Read the object again and send its current ETag. Nothing was changed."),
  TOO_LARGE(
      413,
      "The request is too large",
      "Send less; limit, allowed and actual name the bound and your size."),
  TARGET_TOO_LONG(414, "The request line is too long", "Put long values into the body."),
  UNSUPPORTED_MEDIA_TYPE(
      415, "This path does not accept the type of the body", "Send a type that the detail names."),
  MISDIRECTED(
      421,
      "This server does not answer for that host",
      "Use the address that the server printed at its start."),
  REJECTED(
      422,
      "The provider refuses this for good",
      "Change the message; the detail has the reason. Repeating the call does not help."),
  RATE_LIMITED(
      429, "Too many requests with this credential", "Wait for the time that Retry-After names."),
  HEADERS_TOO_LARGE(431, "The request's headers are too large", "Send fewer or shorter headers."),
  INTERNAL_ERROR(
      500, "The server failed", "Search the log for the correlationId; it has the cause."),
  OUTCOME_UNKNOWN(
      503,
      "The call may or may not have taken effect",
      "Check the effect before you repeat the call."),
  UNAVAILABLE(503, "The store does not answer", "Try again later. Nothing was changed."),
  OVERLOADED(503, "The server is overloaded", "Slow down and try again. Nothing was taken.");

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
