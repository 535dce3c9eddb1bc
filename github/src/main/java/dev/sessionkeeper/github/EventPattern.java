package dev.sessionkeeper.github;

import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Selects events, or with {@code !} before it excludes them: {@code type}, {@code type.action},
 * {@code type.*} or {@code *}.
 *
 * <p>{@code type} and {@code type.*} mean the same: every action, and events without one.
 */
record EventPattern(String text, boolean excludes, Optional<String> type, Optional<String> action) {
  private static final Pattern FORM =
      Pattern.compile("(!?)(?:\\*|([A-Za-z0-9_-]{1,100})(?:\\.(\\*|[^*\\p{Cntrl}]{1,100}))?)");

  static EventPattern parse(String text) {
    var parts = FORM.matcher(text);
    if (!parts.matches()) {
      throw new IllegalArgumentException(
          "must be type, type.action, type.* or *, with ! before it to exclude");
    }
    return new EventPattern(
        text,
        !parts.group(1).isEmpty(),
        Optional.ofNullable(parts.group(2)),
        Optional.ofNullable(parts.group(3)).filter(action -> !action.equals("*")));
  }

  boolean matches(GitHubEvent event) {
    return type.map(event.type()::equals).orElse(true)
        && (action.isEmpty() || action.equals(event.action()));
  }
}
