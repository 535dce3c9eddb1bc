package dev.sessionkeeper.server.http;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The path of a route: {@code /queues/{queue}/leases/{leaseId}}. Each parameter is one segment. */
record PathTemplate(String text, List<String> segments) {
  static PathTemplate of(String text) {
    if (!text.startsWith("/")) {
      throw new IllegalArgumentException("A path begins with '/', was " + text);
    }
    return new PathTemplate(
        text, text.equals("/") ? List.of() : List.of(text.substring(1).split("/", -1)));
  }

  List<String> parameters() {
    var names = new ArrayList<String>();
    for (var segment : segments) {
      if (isParameter(segment)) {
        names.add(nameOf(segment));
      }
    }
    return names;
  }

  /** Returns the values of the parameters; empty if the path does not match. */
  Optional<Map<String, String>> match(List<String> path) {
    if (path.size() != segments.size()) {
      return Optional.empty();
    }
    var values = new HashMap<String, String>();
    for (int i = 0; i < path.size(); i++) {
      var segment = segments.get(i);
      if (isParameter(segment)) {
        if (path.get(i).isEmpty()) {
          return Optional.empty();
        }
        values.put(nameOf(segment), path.get(i));
      } else if (!segment.equals(path.get(i))) {
        return Optional.empty();
      }
    }
    return Optional.of(values);
  }

  private static boolean isParameter(String segment) {
    return segment.startsWith("{");
  }

  private static String nameOf(String segment) {
    return segment.substring(1, segment.length() - 1);
  }
}
