package dev.sessionkeeper.server.dashboard;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What surrounds every page, and what templates ask about the reader.
 *
 * @param section the entry of the menu that the page belongs to
 * @param live what the page wants to hear of while it is open; blank for nothing
 * @param seconds how often it is refreshed
 * @param address the path and query of the page itself
 * @param origin the address of the server, as the reader reaches it
 * @param theme {@code light}, {@code dark}, or blank for what the system says
 * @param told what the act before has done
 */
record Shell(
    String title,
    String section,
    String live,
    int seconds,
    String address,
    String origin,
    Reader reader,
    String theme,
    Optional<Told> told,
    List<Entry> menu,
    Assets assets,
    Instant now) {

  /**
   * The reader of the page.
   *
   * @param isLoggedIn whether there is a login to end
   * @param formToken goes into every form
   */
  record Reader(
      String name, boolean isLoggedIn, boolean mayOperate, boolean mayAdmin, String formToken) {}

  /**
   * An entry of the menu.
   *
   * @param icon a path on a square of 16
   */
  record Entry(String key, String group, String name, String link, String letter, String icon) {}

  /** What an act has done, and where its audit entry is. */
  record Told(String text, String link) {}

  /** A command with the address that the reader uses, or a path behind it. */
  String here(String text) {
    return text.startsWith("/") ? origin + text : text.replace(Curl.HERE, origin);
  }

  String ago(Optional<Instant> time) {
    return time.map(at -> Show.age(Duration.between(at, now))).orElse("–");
  }

  String since(Optional<Instant> time) {
    return time.map(at -> Show.duration(Duration.between(at, now))).orElse("–");
  }
}
