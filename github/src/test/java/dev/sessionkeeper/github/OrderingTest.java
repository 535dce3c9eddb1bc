package dev.sessionkeeper.github;

import static dev.sessionkeeper.github.Deliveries.entitySession;
import static dev.sessionkeeper.github.Deliveries.inApp;
import static dev.sessionkeeper.github.Deliveries.repositorySession;
import static dev.sessionkeeper.github.Deliveries.session;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.QueueMode;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OrderingTest {
  private static final Ordering BY_ID = new Ordering(OrderingScope.ENTITY, SessionKey.ID, false);
  private static final Ordering JOINED = new Ordering(OrderingScope.ENTITY, SessionKey.NAME, true);

  // A pull request once had several sessions.
  @Test
  void everythingAboutAPullRequestIsInOneSession() {
    var sessions =
        List.of(
            inApp("pull_request", "'number':5,'pull_request':{'number':5}"),
            inApp("pull_request_review", "'pull_request':{'number':5}"),
            inApp("pull_request_review_comment", "'pull_request':{'number':5}"),
            inApp("pull_request_review_thread", "'pull_request':{'number':5}"),
            inApp("issue_comment", "'issue':{'number':5,'pull_request':{'url':'x'}}"),
            inApp("issues", "'action':'milestoned','issue':{'pull_request':{},'number':5}"));
    assertThat(sessions)
        .extracting(Deliveries::entitySession)
        .containsOnly("acme/app/pull_request/5");
  }

  @Test
  void anIssueStaysAnIssue() {
    assertThat(entitySession(inApp("issues", "'issue':{'number':6}")))
        .isEqualTo("acme/app/issue/6");
    assertThat(entitySession(inApp("issue_comment", "'issue':{'number':6,'pull_request':null}")))
        .isEqualTo("acme/app/issue/6");
  }

  // The repository's session once differed between scopes.
  @ParameterizedTest
  @ValueSource(strings = {"push", "create", "delete", "release"})
  void theRepositoryHasOneLaneInBothScopes(String type) {
    var event = inApp(type, "'ref':'refs/tags/v1','ref_type':'tag','release':{'id':3}");
    assertThat(entitySession(event))
        .isEqualTo("acme/app/repository")
        .isEqualTo(repositorySession(event));
  }

  // Unknown events once had no session.
  @Test
  void anUnknownEventOrAMissingIdFallsBackToTheRepository() {
    assertThat(entitySession(inApp("tomorrow", "'action':'invented'")))
        .isEqualTo("acme/app/repository");
    for (var odd : List.of("", "'issue':{}", "'issue':null", "'issue':{'number':'6'}")) {
      assertThat(entitySession(inApp("issues", odd))).isEqualTo("acme/app/repository");
    }
    for (var number : List.of("-1", "1.5", "1e3", "true", "[]", "{}", "99999999999999999999")) {
      assertThat(entitySession(inApp("issues", "'issue':{'number':" + number + "}")))
          .isEqualTo("acme/app/repository");
    }
  }

  // An ordered queue refuses messages without a session.
  @Test
  void anEventWithoutARepositoryHasALaneToo() {
    assertThat(entitySession(Deliveries.event("ping", "{\"zen\":\"x\",\"hook_id\":1}")))
        .isEqualTo("github/ping");
    assertThat(entitySession(Deliveries.event("installation", "{\"installation\":{\"id\":77}}")))
        .isEqualTo("installation/77");
    var both = "{\"organization\":{\"login\":\"acme\"},\"installation\":{\"id\":77}}";
    assertThat(entitySession(Deliveries.event("organization", both)))
        .isEqualTo("organization/acme");
    assertThat(repositorySession(Deliveries.event("organization", both)))
        .isEqualTo("organization/acme");
  }

  // A rename once moved events to another session.
  @Test
  void keyedByIdALaneSurvivesARename() {
    var issue = "\"issue\":{\"number\":6},\"repository\":{\"id\":42,\"full_name\":";
    var before = Deliveries.event("issues", "{" + issue + "\"acme/app\"}}");
    var after = Deliveries.event("issues", "{" + issue + "\"other/renamed\"}}");
    assertThat(session(before, BY_ID)).isEqualTo("42/issue/6").isEqualTo(session(after, BY_ID));
    assertThat(entitySession(before)).isNotEqualTo(entitySession(after));
    assertThat(session(inApp("push", ""), BY_ID)).isEqualTo("42/repository");
    var unnumbered = Deliveries.event("push", "{\"repository\":{\"full_name\":\"acme/app\"}}");
    assertThat(session(unnumbered, BY_ID)).isEqualTo("acme/app/repository");
  }

  // Long or non-ASCII names once exceeded the limits of queues.
  @Test
  void aNameThatIsTooLongOrNotAsciiIsShortenedStably() {
    var longest = "o".repeat(39) + "/" + "r".repeat(100);
    var event = pullRequest(longest, 123456789);
    assertThat(entitySession(event)).hasSize(128).startsWith("o".repeat(39) + "/rrr").contains("~");
    assertThat(entitySession(pullRequest(longest, 123456789))).isEqualTo(entitySession(event));
    assertThat(entitySession(pullRequest(longest, 123456788))).isNotEqualTo(entitySession(event));
    var foreign = pullRequest("größe/日本語", 5);
    assertThat(entitySession(foreign)).matches("[\\x20-\\x7e]{1,128}").startsWith("gr__e/___/pull");
    assertThat(foreign.repository().orElseThrow().fullName()).isEqualTo("größe/日本語");
  }

  // Checks once always joined their pull request.
  @Test
  void checksJoinTheirPullRequestOnlyWhenAsked() {
    for (var check : List.of("check_run", "check_suite")) {
      var event = inApp(check, "'" + check + "':{'id':31,'pull_requests':[{'number':5},7]}");
      assertThat(entitySession(event)).isEqualTo("acme/app/" + check + "/31");
      assertThat(session(event, JOINED)).isEqualTo("acme/app/pull_request/5");
      assertThat(JOINED.entityOf(event)).isEqualTo(new Entity("pull_request", "5"));
      var alone = inApp(check, "'" + check + "':{'id':31,'pull_requests':[]}");
      assertThat(session(alone, JOINED)).isEqualTo("acme/app/" + check + "/31");
    }
    var workflow = inApp("workflow_run", "'workflow_run':{'id':32,'pull_requests':[{'number':5}]}");
    assertThat(session(workflow, JOINED)).isEqualTo("acme/app/workflow_run/32");
  }

  @Test
  void aCheckDoesNotJoinAPullRequestOfAnotherRepository() {
    var pull = "'check_run':{'id':31,'pull_requests':[{'number':5,'base':{'repo':{'id':%d}}}]}";
    assertThat(session(inApp("check_run", pull.formatted(42)), JOINED))
        .isEqualTo("acme/app/pull_request/5");
    assertThat(session(inApp("check_run", pull.formatted(43)), JOINED))
        .isEqualTo("acme/app/check_run/31");
  }

  @Test
  void aForksOwnRepositoryDoesNotNameTheSession() {
    var fork = "'pull_request':{'number':5,'head':{'repo':{'full_name':'fork/app','id':43}}}";
    assertThat(entitySession(inApp("pull_request", fork))).isEqualTo("acme/app/pull_request/5");
    assertThat(entitySession(inApp("fork", "'forkee':{'id':43,'full_name':'fork/app'}")))
        .isEqualTo("acme/app/repository");
  }

  @Test
  void aRepositoryWithoutAUsableNameIsNone() {
    for (var odd :
        List.of("5", "null", "[]", "{}", "\"\"", "\"a\"", "\"a/b/c\"", "\"a/\\u0000\"")) {
      var event =
          Deliveries.event("push", "{\"repository\":{\"id\":42,\"full_name\":" + odd + "}}");
      assertThat(event.repository()).isEmpty();
      assertThat(entitySession(event)).isEqualTo("github/push");
    }
    var parts = "{\"repository\":{\"name\":\"app\",\"owner\":{\"login\":\"acme\"}}}";
    assertThat(entitySession(Deliveries.event("push", parts))).isEqualTo("acme/app/repository");
  }

  @Test
  void withoutOrderThereIsNoSessionAndTheQueueIsUnordered() {
    var none = Ordering.by(OrderingScope.NONE);
    assertThat(none.sessionOf(inApp("push", ""))).isEmpty();
    assertThat(none.mode()).isEqualTo(QueueMode.UNORDERED);
    assertThat(Ordering.by(OrderingScope.REPOSITORY).mode()).isEqualTo(QueueMode.ORDERED);
  }

  private static GitHubEvent pullRequest(String repository, int number) {
    return Deliveries.event(
        "pull_request",
        "{\"repository\":{\"id\":1,\"full_name\":\""
            + repository
            + "\"},\"pull_request\":{\"number\":"
            + number
            + "}}");
  }
}
