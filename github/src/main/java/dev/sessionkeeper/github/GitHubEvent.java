package dev.sessionkeeper.github;

import dev.sessionkeeper.Payload;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A verified delivery with the values that routing needs.
 *
 * @param type {@code X-GitHub-Event}, such as {@code pull_request}
 * @param action such as {@code opened}; some events have none
 * @param organization the login
 * @param sender the login of the account that caused the event
 * @param entity the object of the event: the repository if nothing smaller is known; the
 *     organisation, installation or event type if there is no repository
 * @param pullRequestOfCheck for a check run or check suite, the pull request of this repository it
 *     belongs to
 * @param payload the JSON; of a form-encoded delivery the decoded field
 */
public record GitHubEvent(
    EventId id,
    String type,
    Optional<String> action,
    String deliveryId,
    Optional<RepositoryRef> repository,
    Optional<String> organization,
    OptionalLong installation,
    Optional<String> sender,
    Entity entity,
    Optional<Entity> pullRequestOfCheck,
    Payload payload) {

  /** Returns {@code type.action}, or the type alone. */
  public String name() {
    return action.map(a -> type + "." + a).orElse(type);
  }
}
