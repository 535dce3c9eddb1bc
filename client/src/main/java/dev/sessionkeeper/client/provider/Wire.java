package dev.sessionkeeper.client.provider;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.util.RawValue;

/**
 * Converts values between the API's JSON and the library's types. JSON bodies stay as their sender
 * wrote them, byte by byte.
 */
final class Wire {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();
  private static final String BODY = "body";
  private static final int MAX_REASON = 1000;
  private static final int MAX_ERROR = 4000;

  private Wire() {}

  static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  static ObjectNode object(Map<String, Object> members) {
    return MAPPER.valueToTree(members);
  }

  static byte[] bytes(ObjectNode node) {
    return MAPPER.writeValueAsBytes(node);
  }

  static JsonNode read(byte[] answer) {
    if (answer.length == 0) {
      return MAPPER.missingNode();
    }
    try {
      return MAPPER.readTree(answer);
    } catch (JacksonException e) {
      throw new KeeperException.Rejected("The server's answer is not JSON", e);
    }
  }

  static ObjectNode message(Message message) {
    var json = object();
    json.put("messageId", message.id().value());
    message.session().ifPresent(id -> json.put("sessionId", id.value()));
    var payload = message.payload();
    switch (payload.form()) {
      case JSON -> json.putRawValue(BODY, new RawValue(payload.asText()));
      case TEXT -> json.put("bodyText", payload.asText());
      case BYTES ->
          json.put("bodyBase64", Base64.getEncoder().encodeToString(payload.unsafeBytes()));
    }
    json.put("contentType", payload.contentType());
    if (!message.properties().isEmpty()) {
      var properties = json.putObject("properties");
      message.properties().forEach(properties::put);
    }
    message.ttl().ifPresent(ttl -> json.put("ttl", ttl.toString()));
    message.notBefore().ifPresent(at -> json.put("notBefore", at.toString()));
    return json;
  }

  static ObjectNode settlement(Settlement settlement) {
    var json = object();
    switch (settlement) {
      case Settlement.Complete complete -> json.put("action", "complete");
      case Settlement.Retry retry -> {
        json.put("action", retry.counted() ? "retry" : "postpone");
        json.put("delay", retry.delay().toString());
        if (retry.counted() && !retry.limited()) {
          json.put("keepRetrying", true);
        }
        putShort(json, "reason", retry.reason(), MAX_REASON);
      }
      case Settlement.DeadLetter letter -> {
        json.put("action", "deadLetter");
        putShort(json, "reason", letter.reason(), MAX_REASON);
        putShort(json, "error", letter.error(), MAX_ERROR);
      }
      case Settlement.Park park -> {
        json.put("action", "park");
        putShort(json, "reason", park.reason(), MAX_REASON);
      }
    }
    return json;
  }

  private static void putShort(ObjectNode json, String name, String text, int longest) {
    if (!text.isBlank()) {
      json.put(name, text.length() <= longest ? text : text.substring(0, longest));
    }
  }

  /** Returns the messages of an answer, each with its own JSON for further fields. */
  static List<Received> messages(byte[] answer, String list) {
    var raw = rawBodies(answer, list);
    var all = new ArrayList<Received>();
    for (var json : read(answer).path(list)) {
      all.add(new Received(message(json, raw.get(all.size())), json));
    }
    return all;
  }

  /** A message and the JSON it came in. */
  record Received(Message message, JsonNode json) {
    Delivery delivery() {
      return new Delivery(
          message,
          json.path("sequence").asLong(),
          json.path("attempt").asInt(),
          Instant.parse(json.path("enqueuedAt").asString()));
    }
  }

  private static Message message(JsonNode json, Optional<byte[]> rawBody) {
    var properties = new HashMap<String, String>();
    json.path("properties")
        .properties()
        .forEach(each -> properties.put(each.getKey(), each.getValue().asString()));
    return new Message(
        MessageId.of(json.path("messageId").asString()),
        text(json, "sessionId").map(SessionId::of),
        payload(json, rawBody),
        properties,
        Optional.empty(),
        Optional.empty());
  }

  private static Payload payload(JsonNode json, Optional<byte[]> rawBody) {
    var type = json.path("contentType").asString();
    if (rawBody.isPresent()) {
      return Payload.stored(rawBody.get(), Payload.Form.JSON, type);
    }
    return text(json, "bodyText")
        .map(text -> Payload.text(text, type))
        .orElseGet(
            () ->
                Payload.stored(
                    Base64.getDecoder().decode(json.path("bodyBase64").asString("")),
                    Payload.Form.BYTES,
                    type));
  }

  static Optional<String> text(JsonNode json, String name) {
    return json.path(name).isString() ? Optional.of(json.path(name).asString()) : Optional.empty();
  }

  static Optional<Instant> time(JsonNode json, String name) {
    return text(json, name).map(Instant::parse);
  }

  /** Returns the bytes of each element's {@code body}, cut out of the answer. */
  private static List<Optional<byte[]>> rawBodies(byte[] answer, String list) {
    var all = new ArrayList<Optional<byte[]>>();
    if (answer.length == 0) {
      return all;
    }
    try (var parser = MAPPER.createParser(answer)) {
      parser.nextToken();
      while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
        boolean isList = list.equals(parser.currentName());
        if (parser.nextToken() == JsonToken.START_ARRAY && isList) {
          while (parser.nextToken() == JsonToken.START_OBJECT) {
            all.add(rawBody(parser, answer));
          }
        } else {
          parser.skipChildren();
        }
      }
    }
    return all;
  }

  private static Optional<byte[]> rawBody(JsonParser parser, byte[] answer) {
    var found = Optional.<byte[]>empty();
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      boolean isBody = BODY.equals(parser.currentName());
      parser.nextToken();
      int from = (int) parser.currentTokenLocation().getByteOffset();
      parser.skipChildren();
      parser.finishToken();
      if (isBody) {
        int to = (int) parser.currentLocation().getByteOffset();
        found = Optional.of(trimmed(Arrays.copyOfRange(answer, from, to)));
      }
    }
    return found;
  }

  /** Removes the last byte after a number, because the parser has read one byte too many. */
  private static byte[] trimmed(byte[] raw) {
    int to = raw.length;
    while (to > 1 && (raw[to - 1] == ',' || raw[to - 1] == ' ' || raw[to - 1] == '\n')) {
      to--;
    }
    return to == raw.length ? raw : Arrays.copyOf(raw, to);
  }

  static Map<String, String> page(int limit, Optional<String> cursor) {
    var query = new HashMap<String, String>();
    query.put("limit", "" + limit);
    cursor.ifPresent(text -> query.put("cursor", text));
    return query;
  }
}
