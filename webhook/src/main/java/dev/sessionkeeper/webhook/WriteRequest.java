package dev.sessionkeeper.webhook;

import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Optional;

/** Writes a request as HTTP/1.1, in one piece. */
final class WriteRequest {
  private WriteRequest() {}

  static byte[] bytesOf(WebhookRequest request, Instant now) {
    var url = URI.create(request.url().toASCIIString());
    var head = new StringBuilder("POST ");
    head.append(url.getRawPath().isEmpty() ? "/" : url.getRawPath());
    Optional.ofNullable(url.getRawQuery()).ifPresent(query -> head.append('?').append(query));
    head.append(" HTTP/1.1\r\n");
    header(head, "Host", url.getHost() + (url.getPort() < 0 ? "" : ":" + url.getPort()));
    if (request.headers().keySet().stream().noneMatch("User-Agent"::equalsIgnoreCase)) {
      header(head, "User-Agent", "Sessionkeeper");
    }
    header(head, "Content-Type", request.contentType());
    header(head, "Content-Length", Integer.toString(request.body().length));
    header(head, WebhookSignature.ID_HEADER, request.id());
    header(head, WebhookSignature.TIMESTAMP_HEADER, Long.toString(now.getEpochSecond()));
    request
        .signature()
        .map(by -> by.sign(request.id(), now, request.body()))
        .ifPresent(signed -> header(head, WebhookSignature.SIGNATURE_HEADER, signed));
    request.headers().forEach((name, value) -> header(head, name, value));
    head.append("\r\n");
    var bytes = new ByteArrayOutputStream(head.length() + request.body().length);
    bytes.writeBytes(head.toString().getBytes(StandardCharsets.US_ASCII));
    bytes.writeBytes(request.body());
    return bytes.toByteArray();
  }

  private static void header(StringBuilder head, String name, String value) {
    head.append(name).append(": ").append(value).append("\r\n");
  }
}
