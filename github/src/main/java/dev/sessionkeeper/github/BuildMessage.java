package dev.sessionkeeper.github;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Payload;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Creates the message that carries an event to a bot. The same event and bot give the same message
 * id on every machine, so that a queue detects a duplicate.
 */
public final class BuildMessage {
  /** The property of a message whose payload must be fetched by this event id. */
  public static final String PAYLOAD_REF = "payload_ref";

  private static final DateTimeFormatter RFC_3339 =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSS'Z'", Locale.ROOT)
          .withZone(ZoneOffset.UTC);

  private final String traceId;
  private final Instant processedAt;
  private final int maxBodyBytes;

  /**
   * Creates the builder for one delivery.
   *
   * @param traceId the trace that the handling of the event continues
   * @param processedAt when the event was accepted
   * @param maxBodyBytes the largest body of the queues; a larger payload travels as a reference
   */
  public BuildMessage(String traceId, Instant processedAt, int maxBodyBytes) {
    this.traceId = traceId;
    this.processedAt = processedAt;
    this.maxBodyBytes = maxBodyBytes;
  }

  public Message build(GitHubEvent event, Bot bot) {
    var whole = bodyOf(event, bot, Optional.of(event.payload()));
    boolean fits = whole.size() <= maxBodyBytes;
    var properties = propertiesOf(event, bot);
    if (!fits) {
      properties.put(PAYLOAD_REF, event.id().toString());
    }
    return new Message(
        idOf(event, bot),
        bot.ordering().sessionOf(event),
        fits ? whole : bodyOf(event, bot, Optional.empty()),
        properties,
        Optional.empty(),
        Optional.empty());
  }

  /**
   * Returns the id: delivery id and bot, with the event id in place of a delivery id that is too
   * long.
   */
  public static MessageId idOf(GitHubEvent event, Bot bot) {
    var id = event.deliveryId() + ":" + bot.name();
    return MessageId.of(
        id.length() <= MessageId.MAX_LENGTH ? id : event.id().toString() + ":" + bot.name());
  }

  private Payload bodyOf(GitHubEvent event, Bot bot, Optional<Payload> payload) {
    return switch (bot.format()) {
      case RAW -> payload.orElseGet(() -> reference(event));
      case ENVELOPE -> Envelope.of(event, bot.ordering(), RFC_3339.format(processedAt), payload);
    };
  }

  private static Payload reference(GitHubEvent event) {
    return Payload.json("{\"" + PAYLOAD_REF + "\":\"" + event.id() + "\"}");
  }

  private Map<String, String> propertiesOf(GitHubEvent event, Bot bot) {
    var entity = bot.ordering().entityOf(event);
    boolean ordered = bot.ordering().scope() != OrderingScope.NONE;
    var properties = new LinkedHashMap<String, String>();
    properties.put("event_type", event.type());
    event.action().ifPresent(action -> properties.put("action", action));
    event.repository().ifPresent(in -> properties.put("repository", in.fullName()));
    properties.put("entity_type", entity.type());
    properties.put("entity_id", entity.id());
    properties.put("session_scope", ordered ? "ordered" : "unordered");
    properties.put("trace_id", traceId);
    properties.put("correlation_id", event.id().toString());
    properties.put("processed_at", RFC_3339.format(processedAt));
    properties.put("github_delivery_id", event.deliveryId());
    properties.put("bot_name", bot.name());
    return properties;
  }
}
