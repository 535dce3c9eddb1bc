package dev.sessionkeeper.server.dashboard;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** The addresses of pages. Templates do not put addresses together. */
final class Links {
  static final String OVERVIEW = "/";
  static final String QUEUES = "/ui/queues";
  static final String LOGIN = "/ui/login";

  private Links() {}

  static String queue(String queue) {
    return QUEUES + "/" + encode(queue);
  }

  static String queue(String queue, String tab) {
    return with(queue(queue), Map.of("tab", tab));
  }

  static String session(String queue, String session) {
    return queue(queue) + "/session?id=" + encode(session);
  }

  static String deadLetters(String queue) {
    return queue(queue) + "/dead-letters";
  }

  static String deadLetters(String queue, String session) {
    return deadLetters(queue) + "?session=" + encode(session);
  }

  static String deadLetter(String queue, String id) {
    return deadLetters(queue) + "/" + encode(id);
  }

  static String group(String queue, String fingerprint) {
    return deadLetters(queue) + "?fingerprint=" + encode(fingerprint);
  }

  static String bulk(String id) {
    return "/ui/bulk/" + encode(id);
  }

  static String event(String id) {
    return "/ui/events/" + encode(id);
  }

  static String job(String name) {
    return "/ui/jobs/" + encode(name);
  }

  static String stream(String name) {
    return "/ui/streams/" + encode(name);
  }

  static String audit(String target) {
    return "/ui/access?target=" + encode(target);
  }

  static String login(String next) {
    return LOGIN + "?next=" + encode(next);
  }

  /** Returns a path with these query parameters, without the blank ones. */
  static String with(String path, Map<String, String> query) {
    var link = new StringBuilder(path);
    var separator = path.indexOf('?') < 0 ? '?' : '&';
    for (var parameter : query.entrySet()) {
      if (!parameter.getValue().isBlank()) {
        link.append(separator)
            .append(encode(parameter.getKey()))
            .append('=')
            .append(encode(parameter.getValue()));
        separator = '&';
      }
    }
    return link.toString();
  }

  /**
   * Returns a path of this server, or the overview for any other address, so that no page redirects
   * elsewhere.
   */
  static String local(String next) {
    boolean isLocal =
        next.startsWith("/")
            && !next.startsWith("//")
            && next.indexOf('\\') < 0
            && next.chars().noneMatch(Character::isISOControl)
            && !next.startsWith(LOGIN);
    return isLocal ? next : OVERVIEW;
  }

  static String encode(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }
}
