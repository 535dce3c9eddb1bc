package dev.sessionkeeper.github;

import dev.sessionkeeper.Payload;
import dev.sessionkeeper.github.KnownEvents.IdPath;
import dev.sessionkeeper.github.KnownEvents.Subject;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Extracts the object of an event: repository, organisation, sender, and the entity that names its
 * session.
 */
final class NormaliseEvent {
  private static final String PULL_REQUEST = "pull_request";
  private static final Pattern FULL_NAME = Pattern.compile("[^/]+/[^/]+");

  /** The JSON paths that this class reads. */
  static final Set<String> WANTED = wanted();

  private NormaliseEvent() {}

  static GitHubEvent of(String type, String deliveryId, Facts facts, Payload payload) {
    var repository = repository(facts);
    var organization = facts.text("organization.login");
    var installation = facts.number("installation.id");
    var entity =
        repository
            .map(in -> entityIn(in, type, facts))
            .orElseGet(() -> withoutRepository(type, organization, installation));
    return new GitHubEvent(
        EventId.ofGitHub(deliveryId),
        type,
        facts.text("action"),
        deliveryId,
        repository,
        organization,
        installation,
        facts.text("sender.login"),
        entity,
        repository.flatMap(in -> pullRequestOfCheck(in, type, facts)),
        payload);
  }

  private static Optional<RepositoryRef> repository(Facts facts) {
    return facts
        .text("repository.full_name")
        .or(() -> ownerAndName(facts))
        .filter(name -> FULL_NAME.matcher(name).matches())
        .map(name -> new RepositoryRef(name, facts.number("repository.id")));
  }

  private static Optional<String> ownerAndName(Facts facts) {
    return facts
        .text("repository.owner.login")
        .flatMap(owner -> facts.text("repository.name").map(name -> owner + "/" + name));
  }

  private static Entity entityIn(RepositoryRef repository, String type, Facts facts) {
    return KnownEvents.subjectOf(type)
        .flatMap(subject -> entityOf(subject, type, facts))
        .orElseGet(() -> theRepository(repository));
  }

  private static Optional<Entity> entityOf(Subject subject, String type, Facts facts) {
    return subject.ids().stream()
        .flatMap(id -> valueAt(id, facts).stream())
        .findFirst()
        .map(id -> new Entity(entityType(subject, type, facts), id));
  }

  private static String entityType(Subject subject, String type, Facts facts) {
    // GitHub reports a pull request as an issue when it is commented, labelled or milestoned.
    boolean conversation = type.equals("issues") || type.equals("issue_comment");
    return conversation && facts.hasObject("issue.pull_request")
        ? PULL_REQUEST
        : subject.entityType();
  }

  private static Optional<String> valueAt(IdPath id, Facts facts) {
    if (!id.isNumber()) {
      return facts.text(id.path());
    }
    var number = facts.number(id.path());
    return number.isPresent() ? Optional.of(Long.toString(number.getAsLong())) : Optional.empty();
  }

  private static Entity theRepository(RepositoryRef repository) {
    var id = repository.id();
    return new Entity(
        Entity.REPOSITORY, id.isPresent() ? Long.toString(id.getAsLong()) : repository.fullName());
  }

  private static Entity withoutRepository(
      String type, Optional<String> organization, OptionalLong installation) {
    if (organization.isPresent()) {
      return new Entity("organization", organization.get());
    }
    return installation.isPresent()
        ? new Entity("installation", Long.toString(installation.getAsLong()))
        : new Entity("github", type);
  }

  private static Optional<Entity> pullRequestOfCheck(
      RepositoryRef repository, String type, Facts facts) {
    if (!type.equals("check_run") && !type.equals("check_suite")) {
      return Optional.empty();
    }
    var number = facts.number(type + ".pull_requests[0].number");
    var target = facts.number(type + ".pull_requests[0].base.repo.id");
    // A commit of a fork is also listed with pull requests of other repositories.
    boolean elsewhere =
        target.isPresent() && repository.id().isPresent() && !target.equals(repository.id());
    return number.isPresent() && !elsewhere
        ? Optional.of(new Entity(PULL_REQUEST, Long.toString(number.getAsLong())))
        : Optional.empty();
  }

  private static Set<String> wanted() {
    var paths = new HashSet<>(KnownEvents.paths());
    paths.addAll(
        List.of(
            "action",
            "repository.full_name",
            "repository.id",
            "repository.name",
            "repository.owner.login",
            "organization.login",
            "installation.id",
            "sender.login",
            "issue.pull_request"));
    for (var check : List.of("check_run", "check_suite")) {
      paths.add(check + ".pull_requests[0].number");
      paths.add(check + ".pull_requests[0].base.repo.id");
    }
    return Set.copyOf(paths);
  }
}
