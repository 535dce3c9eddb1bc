package dev.sessionkeeper.github;

import java.util.Optional;

/** Whether a bot gets an event, and why. */
public sealed interface Match {
  /** One sentence for a person. */
  String explanation();

  /**
   * The bot gets it.
   *
   * @param repositories the pattern that let the repository in, where the bot has any
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
