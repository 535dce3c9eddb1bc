package dev.sessionkeeper.server.dashboard;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The frame around every page, and what templates know about the reader.
 *
 * @param section the menu entry of the page
 * @param live the kinds of change that refresh the page; blank for none
 * @param seconds how often the page is refreshed
 * @param address the path and query of the page
 * @param origin the address of the server, as the reader reaches it
 * @param theme {@code light}, {@code dark}, or blank for the system's choice
 * @param told the result of the previous act
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
   * @param formToken the token that each form carries
   */
  record Reader(
      String name, boolean isLoggedIn, boolean mayOperate, boolean mayAdmin, String formToken) {}

  /**
   * An entry of the menu.
   *
   * @param icon an SVG path on a square of 16
   */
  record Entry(String key, String group, String name, String link, String letter, String icon) {}

  /** The result of an operator's act, with a link to its audit entry. */
  record Told(String text, String link) {}

  /** Returns a command or path with the server's address as the reader reaches it. */
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
