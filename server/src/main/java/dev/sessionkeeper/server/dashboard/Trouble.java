package dev.sessionkeeper.server.dashboard;

import java.util.List;

/** A problem that needs an operator, with the first objects it affects. */
record Trouble(String css, String title, String text, String link, List<Item> items) {

  /** One affected object. */
  record Item(String title, String text, String link) {}
}
