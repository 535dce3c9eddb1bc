package dev.sessionkeeper.github;

import java.util.List;
import java.util.Optional;

/**
 * The events that a bot subscribes to.
 *
 * <p>An exclusion wins over every other pattern, wherever it stands. A list of exclusions only
 * means everything else. An event without a repository matches only bots without repository
 * patterns.
 */
public final class Subscription {
  private static final String EVERYTHING = "*";

  private final List<EventPattern> events;
  private final Optional<List<RepositoryPattern>> repositories;

  Subscription(List<EventPattern> events, Optional<List<RepositoryPattern>> repositories) {
    this.events = events;
    this.repositories = repositories;
  }

  /** Returns a subscription to events of every repository, and to events without one. */
  public static Subscription to(List<String> events) {
    return new Subscription(parsed(events), Optional.empty());
  }

  /** Returns a subscription to the same events of these repositories only. */
  public Subscription in(List<String> chosen) {
    if (chosen.isEmpty()) {
      throw new IllegalArgumentException("repositories must name at least one, was empty");
    }
    return new Subscription(
        events, Optional.of(chosen.stream().map(RepositoryPattern::parse).toList()));
  }

  public List<String> events() {
    return events.stream().map(EventPattern::text).toList();
  }

  /** Returns the repository patterns; empty if the bot has none. */
  public Optional<List<String>> repositories() {
    return repositories.map(all -> all.stream().map(RepositoryPattern::text).toList());
  }

  /**
   * Returns types in the patterns that GitHub does not document: perhaps new, more likely misspelt.
   * Worth a warning.
   */
  public List<String> undocumentedTypes() {
    return events.stream()
        .flatMap(pattern -> pattern.type().stream())
        .filter(type -> KnownEvents.subjectOf(type).isEmpty())
        .distinct()
        .toList();
  }

  /** Returns whether the subscription matches the event, and why. */
  public Match match(GitHubEvent event) {
    for (var pattern : events) {
      if (pattern.excludes() && pattern.matches(event)) {
        return not("The event " + event.name() + " is excluded by " + pattern.text());
      }
    }
    var wanted = firstMatch(event);
    if (wanted.isEmpty()) {
      return not("The event " + event.name() + " matches none of " + String.join(", ", events()));
    }
    return repositories.isEmpty()
        ? new Match.Matched(wanted.get(), Optional.empty())
        : matchRepository(event, wanted.get(), repositories.get());
  }

  private static Match matchRepository(
      GitHubEvent event, String wanted, List<RepositoryPattern> patterns) {
    if (event.repository().isEmpty()) {
      return not("The event has no repository, and this bot serves chosen repositories only");
    }
    var repository = event.repository().get();
    for (var pattern : patterns) {
      if (pattern.excludes() && pattern.matches(repository)) {
        return not("The repository " + repository.fullName() + " is excluded by " + pattern.text());
      }
    }
    if (patterns.stream().allMatch(RepositoryPattern::excludes)) {
      return new Match.Matched(wanted, Optional.of(EVERYTHING));
    }
    return patterns.stream()
        .filter(pattern -> !pattern.excludes() && pattern.matches(repository))
        .findFirst()
        .<Match>map(pattern -> new Match.Matched(wanted, Optional.of(pattern.text())))
        .orElseGet(
            () ->
                not(
                    "The repository "
                        + repository.fullName()
                        + " matches none of "
                        + String.join(
                            ", ", patterns.stream().map(RepositoryPattern::text).toList())));
  }

  private Optional<String> firstMatch(GitHubEvent event) {
    if (events.stream().allMatch(EventPattern::excludes)) {
      return Optional.of(EVERYTHING);
    }
    return events.stream()
        .filter(pattern -> !pattern.excludes() && pattern.matches(event))
        .map(EventPattern::text)
        .findFirst();
  }

  private static List<EventPattern> parsed(List<String> events) {
    if (events.isEmpty()) {
      throw new IllegalArgumentException("events must name at least one, was empty");
    }
    return events.stream().map(EventPattern::parse).toList();
  }

  private static Match.NotMatched not(String explanation) {
    return new Match.NotMatched(explanation);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Subscription that
        && events().equals(that.events())
        && repositories().equals(that.repositories());
  }

  @Override
  public int hashCode() {
    return events().hashCode();
  }

  @Override
  public String toString() {
    return events() + repositories().map(in -> " in " + in).orElse("");
  }
}
