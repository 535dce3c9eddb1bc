package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.Limits;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import dev.sessionkeeper.server.json.JsonValue;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Messages to be sent, all or nothing. */
record SendRequest(List<Item> messages) {

  static SendRequest read(Fields in) {
    var messages =
        in.required(
            "messages", Decode.list(1, Limits.DEFAULT.maxBatch(), Decode.object(Item::read)));
    in.check();
    return new SendRequest(messages.get());
  }

  /** One message; exactly one of the three payload fields must be present. */
  record Item(
      Optional<String> messageId,
      Optional<String> sessionId,
      Optional<JsonValue> body,
      Optional<String> bodyText,
      Optional<byte[]> bodyBase64,
      Optional<String> contentType,
      Optional<Map<String, String>> properties,
      Optional<Duration> ttl,
      Optional<Instant> notBefore) {

    static Item read(Fields in) {
      var id = in.optional("messageId", Decode.text().map(text -> MessageId.of(text).value()));
      var session = in.optional("sessionId", Decode.text().map(Item::sessionId));
      var body = in.optional("body", Decode.any());
      var text = in.optional("bodyText", Decode::anyText);
      var bytes = in.optional("bodyBase64", Decode.base64());
      var contentType = in.optional("contentType", Decode.text(200).map(Item::mediaType));
      var properties = in.optional("properties", Decode.texts());
      var ttl = in.optional("ttl", Decode.duration(Duration.ofMillis(1), Duration.ofDays(366)));
      var notBefore = in.optional("notBefore", Decode.instant());
      requireOneBody(in);
      in.check();
      return new Item(
          id.get(),
          session.get(),
          body.get(),
          text.get(),
          bytes.get(),
          contentType.get(),
          properties.get(),
          ttl.get(),
          notBefore.get());
    }

    private static void requireOneBody(Fields in) {
      var given = Stream.of("body", "bodyText", "bodyBase64").filter(in::has).toList();
      if (given.isEmpty()) {
        in.reject("body", "is missing; bodyText and bodyBase64 would do as well");
      } else if (given.size() > 1) {
        in.reject(given.get(1), "must not be there together with " + given.get(0));
      }
    }

    /**
     * Ids sent here must fit every provider and every header; only messages of other clients may
     * have other ids.
     */
    private static String sessionId(String text) {
      if (!text.chars().allMatch(c -> c >= 0x20 && c < 0x7f)) {
        throw new IllegalArgumentException("A session id that is sent has printable ASCII only");
      }
      return SessionId.of(text).value();
    }

    private static String mediaType(String text) {
      if (!text.matches("[!-~]+/[ -~]+")) {
        throw new IllegalArgumentException("must be a media type such as text/plain");
      }
      return text;
    }

    Message toMessage() {
      return new Message(
          messageId.map(MessageId::of).orElseGet(MessageId::random),
          sessionId.map(SessionId::of),
          payload(),
          properties.orElse(Map.of()),
          ttl,
          notBefore);
    }

    private Payload payload() {
      if (body.isPresent()) {
        return Payload.stored(
            body.get().span().bytes(), Payload.Form.JSON, contentType.orElse("application/json"));
      }
      if (bodyText.isPresent()) {
        return contentType.isPresent()
            ? Payload.text(bodyText.get(), contentType.get())
            : Payload.text(bodyText.get());
      }
      return Payload.stored(
          bodyBase64.orElseThrow(),
          Payload.Form.BYTES,
          contentType.orElse("application/octet-stream"));
    }
  }
}
