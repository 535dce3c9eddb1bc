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
 * @param address the path and query of the page itself
 * @param theme {@code light}, {@code dark}, or blank for what the system says
 * @param told what the act before has done
 */
record Shell(
    String title,
    String section,
    String live,
    String address,
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

  /** An entry of the menu. */
  record Entry(String key, String name, String link, String letter) {}

  /** What an act has done, and where its audit entry is. */
  record Told(String text, String link) {}

  String ago(Optional<Instant> time) {
    return time.map(at -> Show.age(Duration.between(at, now))).orElse("–");
  }

  String since(Optional<Instant> time) {
    return time.map(at -> Show.duration(Duration.between(at, now))).orElse("–");
  }
}
