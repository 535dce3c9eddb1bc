package dev.sessionkeeper.github;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.github.Match.Matched;
import dev.sessionkeeper.github.Match.NotMatched;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SubscriptionTest {
  private final GitHubEvent opened = Deliveries.inApp("issues", "'action':'opened'");
  private final GitHubEvent deleted = Deliveries.inApp("issues", "'action':'deleted'");
  private final GitHubEvent push = Deliveries.inApp("push", "'ref':'x'");
  private final GitHubEvent homeless =
      Deliveries.event("installation", "{\"action\":\"created\",\"installation\":{\"id\":1}}");

  // Patterns are matched against type and action of real deliveries.
  @ParameterizedTest
  @CsvSource({
    "issues,true,true,false",
    "issues.opened,true,false,false",
    "issues.*,true,true,false",
    "*,true,true,true",
    "push,false,false,true",
    "push.*,false,false,true",
    "push.opened,false,false,false",
    "issue,false,false,false",
    "issues.open,false,false,false",
    "Issues,false,false,false"
  })
  void patternsMatchTypeAndAction(String pattern, boolean open, boolean delete, boolean pushed) {
    var subscription = Subscription.to(List.of(pattern));
    assertThat(isMatched(subscription, opened)).isEqualTo(open);
    assertThat(isMatched(subscription, deleted)).isEqualTo(delete);
    assertThat(isMatched(subscription, push)).isEqualTo(pushed);
  }

  @Test
  void anExclusionWinsWhereverItStands() {
    for (var events :
        List.of(List.of("issues.*", "!issues.deleted"), List.of("!issues.deleted", "issues.*"))) {
      var subscription = Subscription.to(events);
      assertThat(subscription.match(opened)).isEqualTo(new Matched("issues.*", Optional.empty()));
      assertThat(subscription.match(deleted))
          .isEqualTo(new NotMatched("The event issues.deleted is excluded by !issues.deleted"));
    }
    assertThat(isMatched(Subscription.to(List.of("issues.opened", "!issues")), opened)).isFalse();
    assertThat(isMatched(Subscription.to(List.of("issues.opened", "!*")), opened)).isFalse();
  }

  @Test
  void nothingButExclusionsMeansEverythingElse() {
    var subscription = Subscription.to(List.of("!issues.deleted")).in(List.of("!acme/secret"));
    assertThat(subscription.match(push)).isEqualTo(new Matched("*", Optional.of("*")));
    assertThat(isMatched(subscription, deleted)).isFalse();
  }

  @Test
  void anUnwantedEventSaysWhatIsWanted() {
    assertThat(Subscription.to(List.of("push", "release.*")).match(opened).explanation())
        .isEqualTo("The event issues.opened matches none of push, release.*");
  }

  @ParameterizedTest
  @CsvSource({
    "acme/app,true",
    "ACME/App,true",
    "acme/*,true",
    "acme/a?p,true",
    "*/app,true",
    "*/*,true",
    "*,true",
    "acme/ap,false",
    "acme/app2,false",
    "acme/a?,false",
    "acm/*,false",
    "acme./app,false",
    "a***e/a**p,true"
  })
  void repositoriesMatchByWildcard(String pattern, boolean matched) {
    assertThat(isMatched(Subscription.to(List.of("*")).in(List.of(pattern)), opened))
        .isEqualTo(matched);
  }

  @Test
  void anExcludedRepositoryIsSaidToBeOne() {
    var subscription = Subscription.to(List.of("*")).in(List.of("acme/*", "!acme/app"));
    assertThat(subscription.match(opened).explanation())
        .isEqualTo("The repository acme/app is excluded by !acme/app");
    assertThat(Subscription.to(List.of("*")).in(List.of("other/*")).match(opened).explanation())
        .isEqualTo("The repository acme/app matches none of other/*");
    assertThat(Subscription.to(List.of("*")).in(List.of("acme/*")).match(opened).explanation())
        .isEqualTo("The event matches * and its repository matches acme/*");
  }

  @Test
  void anEventWithoutARepositoryIsForBotsThatDoNotChoose() {
    assertThat(isMatched(Subscription.to(List.of("*")), homeless)).isTrue();
    for (var repositories : List.of(List.of("*"), List.of("!acme/secret"), List.of("acme/*"))) {
      assertThat(Subscription.to(List.of("*")).in(repositories).match(homeless).explanation())
          .isEqualTo("The event has no repository, and this bot serves chosen repositories only");
    }
  }

  @Test
  void anActionMayBeAnyText() {
    var dispatch = Deliveries.inApp("repository_dispatch", "'action':'deploy v1.2 to prod'");
    assertThat(
            isMatched(
                Subscription.to(List.of("repository_dispatch.deploy v1.2 to prod")), dispatch))
        .isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "!", "**", "*.opened", "issues.", "issues.op*", ".opened", "a b", "!!issues"})
  void anyOtherEventPatternIsRefused(String pattern) {
    assertThatThrownBy(() -> Subscription.to(List.of(pattern)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("type.action");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "!", "acme", "acme/", "/app", "a/b/c", "!!a/b", "a b/c", "**"})
  void anyOtherRepositoryPatternIsRefused(String pattern) {
    assertThatThrownBy(() -> Subscription.to(List.of("*")).in(List.of(pattern)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("owner/name");
  }

  @Test
  void emptyListsAreRefused() {
    assertThatThrownBy(() -> Subscription.to(List.of())).hasMessageContaining("at least one");
    assertThatThrownBy(() -> Subscription.to(List.of("*")).in(List.of()))
        .hasMessageContaining("at least one");
  }

  @Test
  void misspeltTypesAreNoticed() {
    assertThat(
            Subscription.to(List.of("*", "issues", "pull_requests.opened", "!pull_requests"))
                .undocumentedTypes())
        .containsExactly("pull_requests");
  }

  private static boolean isMatched(Subscription subscription, GitHubEvent event) {
    return subscription.match(event) instanceof Matched;
  }
}
