package dev.sessionkeeper.github;

import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.SessionId;
import java.util.Optional;

/**
 * Chooses the session of an event.
 *
 * <p>Every event has one, whatever its payload lacks: the entity's, otherwise the repository's, the
 * organisation's, the installation's or that of its type, because an ordered queue takes no message
 * without a session.
 *
 * @param joinChecks whether a check run or check suite joins the session of its pull request, if
 *     its payload names one
 */
public record Ordering(OrderingScope scope, SessionKey key, boolean joinChecks) {
  /** Returns an ordering keyed by name, with checks in sessions of their own. */
  public static Ordering by(OrderingScope scope) {
    return new Ordering(scope, SessionKey.NAME, false);
  }

  /** Returns the mode of a queue for these messages. */
  public QueueMode mode() {
    return scope == OrderingScope.NONE ? QueueMode.UNORDERED : QueueMode.ORDERED;
  }

  /** Returns the entity of the event under this bot's options. */
  public Entity entityOf(GitHubEvent event) {
    return joinChecks ? event.pullRequestOfCheck().orElse(event.entity()) : event.entity();
  }

  /**
   * Returns the session; empty if the scope is none. A key that is too long is shortened
   * deterministically.
   */
  public Optional<SessionId> sessionOf(GitHubEvent event) {
    return switch (scope) {
      case NONE -> Optional.empty();
      case ENTITY -> Optional.of(SessionId.fromKey(entityKey(event)));
      case REPOSITORY -> Optional.of(SessionId.fromKey(repositoryKey(event)));
    };
  }

  private String entityKey(GitHubEvent event) {
    var entity = entityOf(event);
    // One canonical form: the session of the repository is the same in both scopes.
    return entity.isRepository() || event.repository().isEmpty()
        ? repositoryKey(event)
        : prefix(event.repository().get()) + "/" + entity.type() + "/" + entity.id();
  }

  private String repositoryKey(GitHubEvent event) {
    return event
        .repository()
        .map(repository -> prefix(repository) + "/" + Entity.REPOSITORY)
        .orElseGet(() -> event.entity().type() + "/" + event.entity().id());
  }

  private String prefix(RepositoryRef repository) {
    return key == SessionKey.ID && repository.id().isPresent()
        ? Long.toString(repository.id().getAsLong())
        : repository.fullName();
  }
}
