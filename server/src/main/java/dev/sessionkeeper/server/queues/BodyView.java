package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.Payload;
import dev.sessionkeeper.server.json.RawJson;
import java.util.Base64;
import java.util.Optional;

/** A body in the field in which it was sent. */
record BodyView(Optional<RawJson> json, Optional<String> text, Optional<String> base64) {
  static BodyView of(Payload payload) {
    return switch (payload.form()) {
      case JSON ->
          new BodyView(
              Optional.of(new RawJson(payload.asText())), Optional.empty(), Optional.empty());
      case TEXT -> new BodyView(Optional.empty(), Optional.of(payload.asText()), Optional.empty());
      case BYTES ->
          new BodyView(
              Optional.empty(),
              Optional.empty(),
              Optional.of(Base64.getEncoder().encodeToString(payload.unsafeBytes())));
    };
  }
}
