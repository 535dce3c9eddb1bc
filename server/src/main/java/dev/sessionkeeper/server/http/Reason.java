package dev.sessionkeeper.server.http;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;

/**
 * Reads why a caller acts, for the audit log. Routes whose body has no reason take one in a header.
 */
public final class Reason {
  /** The name of the header. */
  public static final String HEADER = "Keeper-Reason";

  /** What the header is for, in the description of the API. */
  public static final String ABOUT =
      "Why, for the audit log: at most 500 characters, percent-encoded UTF-8";

  static final int MOST = 500;

  private Reason() {}

  /**
   * The reason in this head; blank where there is none.
   *
   * @throws ProblemException 400 if it is too long or not encoded as it should be
   */
  static String in(RequestHead head) {
    var text = head.header(HEADER);
    if (text.isEmpty()) {
      return "";
    }
    String reason;
    try {
      // A plus is a plus: the header is percent-encoded, it is no form.
      reason = URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8).strip();
    } catch (IllegalArgumentException e) {
      throw Problem.invalid(HEADER, "must be percent-encoded UTF-8").toException();
    }
    if (reason.length() > MOST) {
      throw Problem.invalid(HEADER, "must have at most " + MOST + " characters").toException();
    }
    return reason;
  }
}
