package dev.sessionkeeper.github;

import java.util.Optional;

/** Says whether a bot gets an event, and why. */
public sealed interface Match {
  /** One sentence for a person. */
  String explanation();

  /**
   * The bot gets the event.
   *
   * @param repositories the pattern that matched the repository; empty if the bot has no repository
   *     patterns
   */
  record Matched(String events, Optional<String> repositories) implements Match {
    @Override
    public String explanation() {
      return "The event matches "
          + events
          + repositories.map(pattern -> " and its repository matches " + pattern).orElse("");
    }
  }

  /** The bot does not get it. */
  record NotMatched(String explanation) implements Match {}
}
