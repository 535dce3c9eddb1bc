package dev.sessionkeeper.server.dashboard;

import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.security.BrowserSessions;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/** Reads the fields of a form of the dashboard. */
final class Forms {
  static final String MEDIA_TYPE = "application/x-www-form-urlencoded";
  static final String TOKEN = "_csrf";

  private Forms() {}

  /**
   * Returns the fields of a form; a repeated field is refused.
   *
   * @throws dev.sessionkeeper.server.http.ProblemException 403 if the form was not issued to this
   *     browser
   */
  static Map<String, String> read(Request request, BrowserSessions browsers) {
    var fields = parse(request);
    var token = fields.getOrDefault(TOKEN, "");
    if (!browsers.isFormToken(token, request.header("Cookie"), request.actor().name())) {
      throw ProblemType.FORBIDDEN
          .with("This form has expired, or belongs to another login; open the page again")
          .toException();
    }
    return fields;
  }

  /** Returns the fields of a form that needs no login. */
  static Map<String, String> parse(Request request) {
    var fields = new LinkedHashMap<String, String>();
    var text = new String(request.body(), StandardCharsets.UTF_8);
    for (var pair : text.split("&", -1)) {
      int equals = pair.indexOf('=');
      if (equals > 0) {
        fields.putIfAbsent(decode(pair.substring(0, equals)), decode(pair.substring(equals + 1)));
      }
    }
    return fields;
  }

  private static String decode(String text) {
    try {
      return URLDecoder.decode(text, StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw ProblemType.INVALID_REQUEST.with("The form has a bad escape").toException();
    }
  }
}
