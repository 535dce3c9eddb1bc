package dev.sessionkeeper.github;

import java.util.Optional;

/** The decision whether a bot receives an event, with the reason. */
public sealed interface Match {
  /** Returns one sentence of explanation. */
  String explanation();

  /**
   * The bot receives the event.
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

  /** The bot does not receive the event. */
  record NotMatched(String explanation) implements Match {}
}
