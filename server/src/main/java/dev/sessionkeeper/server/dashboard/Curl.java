package dev.sessionkeeper.server.dashboard;

import java.util.Map;

/** Writes API calls as curl commands that people can paste into a shell. */
final class Curl {
  /**
   * A placeholder for the server's address; each page replaces it by the address that its reader
   * uses.
   */
  static final String HERE = "http://localhost:8080";

  private Curl() {}

  static String get(String path) {
    return get(path, Map.of());
  }

  static String get(String path, Map<String, String> query) {
    var encoded = new StringBuilder();
    for (var segment : path.substring(1).split("/", -1)) {
      encoded.append('/').append(Links.encode(segment));
    }
    return "curl -H \"Authorization: Bearer $KEEPER_API_KEY\" "
        + quoted(HERE + Links.with(encoded.toString(), query));
  }

  /** Returns a word of a command, quoted if the shell needs it. */
  static String word(String text) {
    return text.matches("[A-Za-z0-9._/:@-]+") ? text : quoted(text);
  }

  private static String quoted(String text) {
    return "'" + text.replace("'", "'\\''") + "'";
  }
}
