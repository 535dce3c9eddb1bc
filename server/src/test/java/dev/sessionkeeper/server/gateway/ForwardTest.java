package dev.sessionkeeper.server.gateway;

import static dev.sessionkeeper.server.gateway.GatewayServer.SECRET;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.github.GitHubSignature;
import java.net.URLEncoder;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** A bot written for GitHub's own webhooks works unchanged behind the gateway. */
class ForwardTest {
  // Spaces, escapes and an order of keys that no JSON writer would choose.
  private static final String ODD =
      """
      { "number" : 5,\t"action":"opened", "é": "\\u00e9\\/",
        "pull_request": {"number":5},   "repository":{"full_name":"acme/odd",
      "name":"odd","owner":{"login":"acme"},"id":7} , "filler": "%s" }
      """;

  private static String bot(String name, Receiver receiver, String more, String deliver) {
    return """
          - name: %s
            events: ["pull_request"]
            %s
            deliver: { url: "%s", allow_private_targets: true%s }
        """
        .formatted(name, more, receiver.url(), deliver);
  }

  private static boolean isSignedBy(String secret, Receiver.Post post) {
    return GitHubSignature.of(List.of(secret))
        .verify(post.body(), post.header("X-Hub-Signature-256"));
  }

  @Test
  void thePushIsWhatGitHubSentByteForByteWithItsHeadersAndItsSignature() throws Exception {
    try (var receiver = new Receiver(post -> Receiver.Answer.of(200));
        var server = GatewayServer.start("bots:\n" + bot("plain", receiver, "", ""))) {
      // One payload that is copied into its message, and one that the event and the message share.
      var bodies = List.of(ODD.formatted(""), ODD.formatted("x".repeat(5000)));
      for (var body : bodies) {
        assertThat(server.deliver("pull_request", body).status()).isEqualTo(202);
      }
      await().until(() -> receiver.posts.size() == 2);
      assertThat(receiver.posts.stream().map(post -> new String(post.body(), UTF_8)))
          .containsExactlyElementsOf(bodies);
      assertThat(receiver.posts)
          .allSatisfy(
              post -> {
                assertThat(isSignedBy(SECRET, post)).isTrue();
                assertThat(post.header("User-Agent")).isEqualTo("GitHub-Hookshot/044aadd");
                assertThat(post.header("X-GitHub-Event")).isEqualTo("pull_request");
                assertThat(post.header("X-GitHub-Delivery")).isNotEmpty();
                assertThat(post.header("X-GitHub-Hook-ID")).isEqualTo("292430182");
                assertThat(post.header("X-GitHub-Hook-Installation-Target-ID"))
                    .isEqualTo("79929171");
                assertThat(post.header("X-GitHub-Hook-Installation-Target-Type"))
                    .isEqualTo("repository");
                assertThat(post.header("Content-Type")).startsWith("application/json");
              });
    }
  }

  @Test
  void aBotWithASecretOfItsOwnGetsASignatureOfWhatItGets() throws Exception {
    try (var raw = new Receiver(post -> Receiver.Answer.of(200));
        var enveloped = new Receiver(post -> Receiver.Answer.of(200));
        var server =
            GatewayServer.start(
                "bots:\n"
                    + bot("raw", raw, "", ", github_secret: own")
                    + bot("enveloped", enveloped, "format: envelope", ", github_secret: own"))) {
      server.deliver("pull_request", ODD.formatted("own"));
      await().until(() -> raw.posts.size() == 1 && enveloped.posts.size() == 1);
      assertThat(isSignedBy("own", raw.posts.element())).isTrue();
      assertThat(isSignedBy("own", enveloped.posts.element())).isTrue();
    }
  }

  @Test
  void aSignatureThatDoesNotFitTheBodyIsNotForwarded() throws Exception {
    try (var raw = new Receiver(post -> Receiver.Answer.of(200));
        var enveloped = new Receiver(post -> Receiver.Answer.of(200));
        var server =
            GatewayServer.start(
                "bots:\n"
                    + bot("raw", raw, "", "")
                    + bot("enveloped", enveloped, "format: envelope", ""))) {
      var form = "payload=" + URLEncoder.encode(ODD.formatted("form"), UTF_8);
      server.deliver(
          "pull_request",
          UUID.randomUUID().toString(),
          form.getBytes(UTF_8),
          "application/x-www-form-urlencoded",
          SECRET);
      await().until(() -> raw.posts.size() == 1 && enveloped.posts.size() == 1);
      assertThat(raw.posts.element().header("X-Hub-Signature-256")).isEmpty();
      assertThat(raw.posts.element().header("X-GitHub-Hook-ID")).isEqualTo("292430182");
      assertThat(enveloped.posts.element().header("X-Hub-Signature-256")).isEmpty();
    }
  }

  @Test
  void aBotThatPullsFindsTheHeadersAmongThePropertiesAlsoAfterAReplay() throws Exception {
    try (var server =
        GatewayServer.start("bots:\n  - { name: pulls, events: [\"pull_request\"] }\n")) {
      var body = ODD.formatted("pulled");
      var event = server.deliver("pull_request", body).json().get("eventId").asString();
      var replayed = server.post("/events/replay", "{\"eventId\":\"" + event + "\"}");
      assertThat(replayed.json().get("replayed").asInt()).isEqualTo(1);
      var messages = server.drain("pulls", "acme/odd/pull_request/5");
      assertThat(messages).hasSize(2);
      assertThat(messages)
          .allSatisfy(
              message -> {
                var properties = message.get("properties");
                assertThat(properties.get("github_hook_id").asString()).isEqualTo("292430182");
                assertThat(properties.get("github_hook_target_type").asString())
                    .isEqualTo("repository");
                assertThat(properties.get("github_user_agent").asString())
                    .isEqualTo("GitHub-Hookshot/044aadd");
                assertThat(properties.get("github_signature").asString())
                    .isEqualTo(GitHubSignature.sign(SECRET, body.getBytes(UTF_8)));
              });
    }
  }
}
