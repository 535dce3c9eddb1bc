package dev.sessionkeeper.server.json;

import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** JSON that was read once and is written again as it was. */
public record RawJson(String text) {

  /** The document in these bytes; empty when they are not one valid document. */
  public static Optional<RawJson> of(byte[] document) {
    return ReadJson.isDocument(document)
        ? Optional.of(new RawJson(new String(document, StandardCharsets.UTF_8)))
        : Optional.empty();
  }
}
