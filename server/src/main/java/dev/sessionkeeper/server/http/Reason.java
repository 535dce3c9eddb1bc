package dev.sessionkeeper.server.http;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;

/**
 * Reads the reason of an act, for the audit log. Routes whose body has no field for it read a
 * header.
 */
public final class Reason {
  /** The name of the header. */
  public static final String HEADER = "Keeper-Reason";

  /** The description of the header in the API description. */
  public static final String ABOUT =
      "Why, for the audit log: at most 500 characters, percent-encoded UTF-8";

  static final int MOST = 500;

  private Reason() {}

  /**
   * Returns the reason in this head; blank if there is none.
   *
   * @throws ProblemException 400 if it is too long or badly encoded
   */
  static String in(RequestHead head) {
    var text = head.header(HEADER);
    if (text.isEmpty()) {
      return "";
    }
    String reason;
    try {
      // Percent-encoding, not form encoding: a plus sign stays a plus sign.
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
