package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.Payload;
import dev.sessionkeeper.server.json.RawJson;
import java.util.Base64;
import java.util.Optional;

/** A payload in one of three fields, by the form in which it was sent. */
public record BodyView(Optional<RawJson> json, Optional<String> text, Optional<String> base64) {
  public static BodyView of(Payload payload) {
    return switch (payload.form()) {
      // A library may have declared text as JSON that is not; written raw, it would break the whole
      // answer.
      case JSON ->
          RawJson.of(payload.unsafeBytes())
              .map(json -> new BodyView(Optional.of(json), Optional.empty(), Optional.empty()))
              .orElseGet(() -> text(payload));
      case TEXT -> text(payload);
      case BYTES ->
          new BodyView(
              Optional.empty(),
              Optional.empty(),
              Optional.of(Base64.getEncoder().encodeToString(payload.unsafeBytes())));
    };
  }

  private static BodyView text(Payload payload) {
    return new BodyView(Optional.empty(), Optional.of(payload.asText()), Optional.empty());
  }
}
