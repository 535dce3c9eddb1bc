package dev.sessionkeeper.github;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.webhook.TargetGuard;
import dev.sessionkeeper.webhook.WebhookSignature;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BindBotsTest {
  private static final String SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

  @Test
  void aBotWithANameOnlyHasEveryDefault() {
    var bot = theBot(Map.of("name", "task-tactician"));
    assertThat(bot)
        .isEqualTo(Bot.of("task-tactician", Subscription.to(List.of("*")), OrderingScope.ENTITY));
    assertThat(bot.limits()).isEqualTo(SessionLimits.ofDefaults());
    assertThat(bot.queueSettings().lockDuration()).isEqualTo(Duration.ofMinutes(5));
    assertThat(bot.queueSettings().duplicateWindow()).isEqualTo(Duration.ofMinutes(10));
    assertThat(bot.queueSettings().messageTtl()).isEqualTo(Duration.ofHours(24));
    assertThat(bot.deliver()).isEmpty();
  }

  @Test
  void aBotThatIsPushedHasARetrySchedule() {
    var deliver = Map.of("url", "https://bots.example/hook", "github_secret", "env:PUSH");
    var byDefault = theBot(Map.of("name", "a", "deliver", deliver)).deliver().orElseThrow();
    assertThat(byDefault.retry())
        .isEqualTo(
            new RetrySchedule(
                Duration.ofSeconds(1), 2, Duration.ofMinutes(5), Duration.ofHours(24)));
    assertThat(byDefault.asGitHub()).isPresent();
    var chosen =
        theBot(
            Map.of(
                "name",
                "a",
                "deliver",
                deliver,
                "retry",
                Map.of("first", "10s", "factor", "1.5", "max", "1m", "for", "PT2H")));
    assertThat(chosen.deliver().orElseThrow().retry())
        .isEqualTo(
            new RetrySchedule(
                Duration.ofSeconds(10), 1.5, Duration.ofMinutes(1), Duration.ofHours(2)));
  }

  @Test
  void aWrongRetryScheduleIsRefusedKeyByKey() {
    var deliver = Map.of("url", "https://bots.example/hook");
    assertThat(
            problemsOf(
                Map.of(
                    "name",
                    "a",
                    "deliver",
                    deliver,
                    "retry",
                    Map.of("first", "2m", "factor", 0, "max", "1m", "often", true))))
        .containsExactlyInAnyOrder(
            "bots[0].retry.factor must be a number from 1 to 10, was 0",
            "bots[0].retry.max must not be shorter than first (2m), was 1m",
            "bots[0].retry.often is not a key here; keys are first, factor, max, for");
    assertThat(problemsOf(Map.of("name", "a", "retry", Map.of("first", "2m"))))
        .containsExactly(
            "bots[0].retry needs deliver: a bot that pulls decides itself when it tries again");
  }

  @Test
  void everyKeyOfTheGatewayIsRead() {
    var bot =
        theBot(
            Map.ofEntries(
                Map.entry("name", "task-tactician"),
                Map.entry("queue", "tactics"),
                Map.entry("events", List.of("issues.*", "!issues.deleted")),
                Map.entry("repositories", List.of("acme/*", "!acme/secret")),
                Map.entry("ordering_scope", "repository"),
                Map.entry("session_key", "id"),
                Map.entry("join_checks", true),
                Map.entry("format", "envelope"),
                Map.entry("max_concurrent_sessions", 10),
                Map.entry("queue_depth_threshold", 20),
                Map.entry("session_timeout", "1m"),
                Map.entry("session_idle_timeout", "PT30S"),
                Map.entry("session_max_duration", "10m"),
                Map.entry("max_delivery_count", 7),
                Map.entry("on_poison", "park_session"),
                Map.entry(
                    "deliver",
                    Map.of(
                        "url",
                        "http://127.0.0.1:9000/hook",
                        "secret",
                        "env:PUSH",
                        "timeout",
                        "5s",
                        "allow_private_targets",
                        true))));
    assertThat(bot.queue()).hasToString("tactics");
    assertThat(bot.subscription().events()).containsExactly("issues.*", "!issues.deleted");
    assertThat(bot.subscription().repositories()).contains(List.of("acme/*", "!acme/secret"));
    assertThat(bot.ordering())
        .isEqualTo(new Ordering(OrderingScope.REPOSITORY, SessionKey.ID, true));
    assertThat(bot.format()).isEqualTo(MessageFormat.ENVELOPE);
    assertThat(bot.limits())
        .isEqualTo(new SessionLimits(10, Duration.ofSeconds(30), Duration.ofMinutes(10), 20, 5120));
    assertThat(bot.queueSettings().lockDuration()).isEqualTo(Duration.ofMinutes(1));
    assertThat(bot.queueSettings().maxDeliveryCount()).isEqualTo(7);
    assertThat(bot.queueSettings().poisonPolicy()).isEqualTo(PoisonPolicy.PARK_SESSION);
    var push = bot.deliver().orElseThrow();
    assertThat(push.url()).hasToString("http://127.0.0.1:9000/hook");
    assertThat(push.timeout()).isEqualTo(Duration.ofSeconds(5));
    assertThat(push.signature()).isPresent();
    assertThat(push.guard().check("127.0.0.1")).isInstanceOf(TargetGuard.Verdict.Allowed.class);
  }

  // A bot may be named task-tactician in one section and task_tactician in another.
  @Test
  void theSectionsOfTheSeedAreReadWhateverTheirHyphens() {
    var file =
        Map.of(
            "bot_config",
            Map.of("name", "task-tactician", "ordering_scope", "entity"),
            "session_limits",
            Map.of(
                "task_tactician",
                Map.of("max_concurrent_sessions", 60, "queue_depth_threshold", 200)),
            "service_bus_queues",
            Map.of(
                "queue_keeper_task_tactician",
                Map.of(
                    "sessions_enabled",
                    true,
                    "duplicate_detection_enabled",
                    true,
                    "duplicate_detection_window",
                    "PT20M",
                    "default_message_ttl",
                    "PT48H",
                    "max_size_in_megabytes",
                    1024)));
    var bot = valid(file).getFirst();
    assertThat(bot.limits().maxConcurrentSessions()).isEqualTo(60);
    assertThat(bot.limits().queueDepthThreshold()).isEqualTo(200);
    assertThat(bot.limits().maxSizeInMegabytes()).isEqualTo(1024);
    assertThat(bot.queueSettings().duplicateWindow()).isEqualTo(Duration.ofMinutes(20));
    assertThat(bot.queueSettings().messageTtl()).isEqualTo(Duration.ofDays(2));
  }

  @Test
  void anUnorderedBotHasAnUnorderedQueueAndMayTurnOffDuplicateDetection() {
    var bot =
        theBot(
            Map.of(
                "name",
                "notification-bot",
                "ordering_scope",
                "none",
                "sessions_enabled",
                false,
                "duplicate_detection_enabled",
                false));
    assertThat(bot.queueSettings().mode()).isEqualTo(QueueMode.UNORDERED);
    assertThat(bot.queueSettings().duplicateWindow()).isZero();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "name|a b|must be 1 to 80 letters, digits, '.', '-' or '_', was \"a b\"",
        "ordering_scope|all|must be none, entity or repository, was \"all\"",
        "session_key|number|must be name or id, was \"number\"",
        "format|xml|must be raw or envelope, was \"xml\"",
        "join_checks|yes|must be true or false, was \"yes\"",
        "max_concurrent_sessions|0|must be 1 to 10000, was 0",
        "max_concurrent_sessions|many|must be 1 to 10000, was \"many\"",
        "max_delivery_count|1001|must be 1 to 1000, was 1001",
        "on_poison|stop|must be dead_letter, park_session or block, was \"stop\"",
        "session_timeout|5|must be a duration such as 5m or PT5M, 1s to 12h, was 5",
        "session_timeout|13h|must be a duration such as 5m or PT5M, 1s to 12h, was \"13h\"",
        "session_idle_timeout|31m|must not be longer than session_max_duration (PT30M), was PT31M",
        "sessions_enabled|false|must be true with this ordering_scope, was false",
        "deliver|x|must have url, secret, github_secret, timeout, allow_private_targets"
      })
  void aWrongValueIsRefusedWithWhatIsAllowed(String key, String value, String problem) {
    var bot = new HashMap<String, Object>(Map.of("name", "bot"));
    bot.put(key, typed(value));
    assertThat(problems(Map.of("bots", List.of(bot))))
        .containsExactly(new ConfigProblem("bots[0]." + key, problem));
  }

  @Test
  void allMistakesAreFoundAtOnceEachWithItsPlace() {
    var file =
        Map.of(
            "bots",
            List.of(
                Map.of("events", List.of("issues", "issues.op*", 5), "colour", "red"),
                "text",
                Map.of("name", "a", "repositories", List.of(), "max_delivery_count", "5"),
                Map.of("name", "b", "deliver", Map.of("secret", "env:NONE", "uri", "x"))),
            "session_limits",
            Map.of("nobody", Map.of("max_concurrent_sessions", 1)));
    assertThat(problems(file))
        .extracting(ConfigProblem::path)
        .containsExactlyInAnyOrder(
            "bots[0]",
            "bots[0].colour",
            "bots[0].events[1]",
            "bots[0].events[2]",
            "bots[1]",
            "bots[2].repositories",
            "bots[2].max_delivery_count",
            "bots[3].deliver",
            "bots[3].deliver.uri",
            "bots[3].deliver.secret",
            "session_limits.nobody");
  }

  @Test
  void aSecretIsNeverShown() {
    for (var url : List.of("http://user:hidden@example.com/", "http://h idden/", "hidden:x")) {
      var bot = Map.of("name", "a", "deliver", Map.of("url", url, "secret", "hidden!"));
      assertThat(problems(Map.of("bots", List.of(bot))))
          .hasSize(2)
          .allSatisfy(problem -> assertThat(problem.problem()).doesNotContain("hidden"));
    }
    var secret = WebhookSignature.of(SECRET);
    assertThat(secret.toString()).doesNotContain("MfKQ");
  }

  @Test
  void aKeyThatIsSetTwiceIsRefused() {
    var file =
        Map.of(
            "bots",
            List.of(Map.of("name", "a", "max_concurrent_sessions", 5)),
            "session_limits",
            Map.of("a", Map.of("max_concurrent_sessions", 6)));
    assertThat(problems(file))
        .containsExactly(
            new ConfigProblem(
                "session_limits.a.max_concurrent_sessions",
                "is set in bots[0].max_concurrent_sessions already"));
  }

  @Test
  void everyBotHasItsOwnNameAndQueue() {
    assertThat(problems(Map.of("bots", List.of(Map.of("name", "a"), Map.of("name", "a")))))
        .containsExactly(
            new ConfigProblem("bots[1].name", "is the name of another bot too: \"a\""));
    var shared = List.of(Map.of("name", "a"), Map.of("name", "b", "queue", "a"));
    assertThat(problems(Map.of("bots", shared)))
        .containsExactly(
            new ConfigProblem(
                "bots[1].queue", "is the queue of another bot too: \"a\"; every bot has its own"));
  }

  @Test
  void aSecretMayBeReplacedWithoutABreak() {
    var bot =
        theBot(
            Map.of(
                "name",
                "a",
                "deliver",
                Map.of("url", "https://example.com/", "secret", List.of("env:PUSH", SECRET))));
    assertThat(bot.deliver().orElseThrow().signature().orElseThrow())
        .hasToString("WebhookSignature with 2 secrets");
  }

  @Test
  void aFileWithoutBotsHasNone() {
    assertThat(valid(Map.of("server", Map.of("port", 8080)))).isEmpty();
    assertThat(problems(Map.of("bots", "x")))
        .containsExactly(new ConfigProblem("bots", "must be a list of bots"));
  }

  private static Object typed(String value) {
    if (value.equals("true") || value.equals("false")) {
      return Boolean.valueOf(value);
    }
    return value.matches("[0-9]+") ? (Object) Integer.valueOf(value) : value;
  }

  private static Bot theBot(Map<String, ?> values) {
    return valid(Map.of("bots", List.of(values))).getFirst();
  }

  private static List<Bot> valid(Map<String, ?> file) {
    return switch (bind(file)) {
      case BoundBots.Valid valid -> valid.bots();
      case BoundBots.Invalid invalid -> throw new AssertionError(invalid.problems().toString());
    };
  }

  private static List<String> problemsOf(Map<String, ?> bot) {
    return problems(Map.of("bots", List.of(bot))).stream().map(ConfigProblem::toString).toList();
  }

  private static List<ConfigProblem> problems(Map<String, ?> file) {
    return switch (bind(file)) {
      case BoundBots.Valid valid -> throw new AssertionError("valid: " + valid.bots());
      case BoundBots.Invalid invalid -> invalid.problems();
    };
  }

  private static BoundBots bind(Map<String, ?> file) {
    return BindBots.bind(
        file,
        reference -> {
          if (reference.equals("env:NONE")) {
            throw new IllegalArgumentException("The environment has no variable NONE");
          }
          return reference.equals("env:PUSH") ? SECRET : reference;
        });
  }
}
