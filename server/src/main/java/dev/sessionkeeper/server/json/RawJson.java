package dev.sessionkeeper.server.json;

import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** JSON that is written exactly as it was read. */
public record RawJson(String text) {

  /** Returns the document; empty if the bytes are not one valid document. */
  public static Optional<RawJson> of(byte[] document) {
    return ReadJson.isDocument(document)
        ? Optional.of(new RawJson(new String(document, StandardCharsets.UTF_8)))
        : Optional.empty();
  }
}
