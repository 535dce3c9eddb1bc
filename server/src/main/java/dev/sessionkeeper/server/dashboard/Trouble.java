package dev.sessionkeeper.server.dashboard;

import java.util.List;

/** Something that a person should look at, with the first of what it is about. */
record Trouble(String css, String title, String text, String link, List<Item> items) {

  /** One of the things that need a person. */
  record Item(String title, String text, String link) {}
}
