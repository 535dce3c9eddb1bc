package dev.sessionkeeper.github;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.SessionId;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

class BuildMessageTest {
  private static final String JSON =
      "{ \"action\": \"opened\", \"repository\": {\"id\":42, \"full_name\": \"acme/app\"},"
          + " \"sender\": {\"login\":\"ann\"}, \"pull_request\": {\"number\": 5} }";
  private static final Instant ACCEPTED = Instant.parse("2026-11-15T10:20:30Z");

  private final GitHubEvent event = Deliveries.event("pull_request", JSON);
  private final Bot bot = bot("task-tactician", OrderingScope.ENTITY);
  private final BuildMessage build = new BuildMessage("4bf92f3577b34da6", ACCEPTED, 1 << 20);

  @Test
  void theMessageCarriesThePayloadAndExactlyTheseProperties() {
    var message = build.build(event, bot);
    assertThat(message.payload()).isEqualTo(Payload.json(JSON));
    assertThat(message.session()).contains(SessionId.of("acme/app/pull_request/5"));
    assertThat(message.properties())
        .isEqualTo(
            Map.ofEntries(
                Map.entry("event_type", "pull_request"),
                Map.entry("action", "opened"),
                Map.entry("repository", "acme/app"),
                Map.entry("entity_type", "pull_request"),
                Map.entry("entity_id", "5"),
                Map.entry("session_scope", "ordered"),
                Map.entry("trace_id", "4bf92f3577b34da6"),
                Map.entry("correlation_id", event.id().toString()),
                Map.entry("processed_at", "2026-11-15T10:20:30.000000Z"),
                Map.entry("github_delivery_id", Deliveries.ID),
                Map.entry("bot_name", "task-tactician")));
  }

  // Delivery id and bot determine the message id.
  @Test
  void theIdIsOfDeliveryAndBotAndTheSameEveryTime() {
    assertThat(build.build(event, bot).id())
        .isEqualTo(MessageId.of(Deliveries.ID + ":task-tactician"))
        .isEqualTo(new BuildMessage("other", Instant.EPOCH, 10).build(event, bot).id());
    assertThat(build.build(event, bot("other", OrderingScope.NONE)).id())
        .isNotEqualTo(build.build(event, bot).id());
  }

  @Test
  void theLongestDeliveryIdAndBotNameStillGiveAnId() {
    var longest = withDeliveryId("d".repeat(100));
    var named = bot("b".repeat(80), OrderingScope.ENTITY);
    assertThat(build.build(longest, named).id().value())
        .isEqualTo(longest.id() + ":" + "b".repeat(80));
  }

  // The event id is derived from the delivery id, not random.
  @Test
  void theEventIdFollowsFromTheDeliveryId() {
    assertThat(event.id()).isEqualTo(EventId.of("github", Deliveries.ID));
    assertThat(event.id())
        .isEqualTo(EventId.of("github", Deliveries.ID.toUpperCase(java.util.Locale.ROOT)));
    assertThat(event.id()).isNotEqualTo(EventId.of("gitlab", Deliveries.ID));
    assertThat(event.id().value().version()).isEqualTo(8);
    assertThat(event.id().value().variant()).isEqualTo(2);
    assertThat(EventId.parse(event.id().toString())).isEqualTo(event.id());
    // Must never change: stored events are found by this id.
    assertThat(EventId.of("github", "1")).hasToString("9036cf52-213d-85cd-8b5f-e76365e9eaf1");
  }

  @Test
  void anUnorderedBotsMessageHasNoSession() {
    var message = build.build(event, bot("plain", OrderingScope.NONE));
    assertThat(message.session()).isEmpty();
    assertThat(message.properties()).containsEntry("session_scope", "unordered");
  }

  @Test
  void whatAnEventDoesNotHaveIsNoProperty() {
    var homeless = Deliveries.event("ping", "{\"zen\":\"x\"}");
    assertThat(build.build(homeless, bot).properties())
        .doesNotContainKeys("action", "repository", "payload_ref")
        .containsEntry("entity_type", "github")
        .containsEntry("entity_id", "ping");
    assertThat(build.build(Deliveries.inApp("push", ""), bot).properties())
        .containsEntry("entity_type", "repository")
        .containsEntry("entity_id", "42");
  }

  @Test
  void aJoinedCheckIsAboutItsPullRequest() {
    var check =
        Deliveries.inApp("check_run", "'check_run':{'id':31,'pull_requests':[{'number':5}]}");
    var joined = bot.withOrdering(new Ordering(OrderingScope.ENTITY, SessionKey.NAME, true));
    assertThat(build.build(check, joined).properties())
        .containsEntry("entity_type", "pull_request")
        .containsEntry("entity_id", "5");
  }

  @Test
  void aPayloadThatDoesNotFitTravelsAsAReference() {
    var narrow = new BuildMessage("t", ACCEPTED, JSON.length() - 1);
    var message = narrow.build(event, bot);
    assertThat(message.payload())
        .isEqualTo(Payload.json("{\"payload_ref\":\"" + event.id() + "\"}"));
    assertThat(message.properties()).containsEntry("payload_ref", event.id().toString());
    assertThat(message.session()).isEqualTo(build.build(event, bot).session());
    var exact = new BuildMessage("t", ACCEPTED, JSON.length()).build(event, bot);
    assertThat(exact.payload()).isEqualTo(Payload.json(JSON));
    assertThat(exact.properties()).doesNotContainKey("payload_ref");
  }

  @Test
  void anEnvelopeIsACloudEventWithThePayloadAsItCame() {
    var message = build.build(event, bot.withFormat(MessageFormat.ENVELOPE));
    assertThat(message.payload().contentType()).isEqualTo("application/cloudevents+json");
    assertThat(message.payload().form()).isEqualTo(Payload.Form.JSON);
    assertThat(message.payload().asText()).endsWith(",\"data\":" + JSON + "}");
    var mapper = new JsonMapper();
    var envelope = mapper.readTree(message.payload().asText());
    assertThat(envelope.get("data")).isEqualTo(mapper.readTree(JSON));
    assertThat(texts(message))
        .containsEntry("specversion", "1.0")
        .containsEntry("id", event.id().toString())
        .containsEntry("source", "github/acme/app")
        .containsEntry("type", "github.pull_request.opened")
        .containsEntry("subject", "pull_request/5")
        .containsEntry("time", "2026-11-15T10:20:30.000000Z")
        .containsEntry("datacontenttype", "application/json")
        .containsEntry("sender", "ann")
        .containsEntry("sessionid", "acme/app/pull_request/5")
        .containsEntry("deliveryid", Deliveries.ID);
    assertThat(envelope.get("repositoryid").asLong()).isEqualTo(42);
  }

  @Test
  void anEnvelopeThatDoesNotFitLeavesOutTheDataAndSaysWhereItIs() {
    var message =
        new BuildMessage("t", ACCEPTED, JSON.length())
            .build(event, bot.withFormat(MessageFormat.ENVELOPE));
    assertThat(new JsonMapper().readTree(message.payload().asText()).has("data")).isFalse();
    assertThat(texts(message)).containsEntry("dataref", "/events/" + event.id() + "/payload");
    assertThat(message.properties()).containsEntry("payload_ref", event.id().toString());
  }

  private static Map<String, String> texts(Message message) {
    var envelope = new JsonMapper().readTree(message.payload().asText());
    return envelope.properties().stream()
        .filter(entry -> entry.getValue().isString())
        .collect(
            java.util.stream.Collectors.toMap(Map.Entry::getKey, e -> e.getValue().asString()));
  }

  private static Bot bot(String name, OrderingScope scope) {
    return Bot.of(name, Subscription.to(List.of("*")), scope);
  }

  private static GitHubEvent withDeliveryId(String deliveryId) {
    return new GitHubEvent(
        EventId.of("github", deliveryId),
        "push",
        Optional.empty(),
        deliveryId,
        Optional.empty(),
        Optional.empty(),
        OptionalLong.empty(),
        Optional.empty(),
        new Entity("github", "push"),
        Optional.empty(),
        Payload.json("{}"));
  }
}
