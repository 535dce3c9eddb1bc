package dev.sessionkeeper.server.hostile;

import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** Calls the server: whole requests, and raw sockets for bytes that no client library sends. */
final class Wire {
  private final URI address;
  private final String key;
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  /**
   * A connection to a server.
   *
   * @param key the API key to present; blank for a server that requires none
   */
  Wire(URI address, String key) {
    this.address = address;
    this.key = key;
  }

  /** Returns the header line with the key. */
  private String authorization() {
    return key.isEmpty() ? "" : "Authorization: Bearer " + key + "\r\n";
  }

  /** An answer as text. */
  record Answer(int status, String body) {
    /** Returns the last part of a problem's type, or the status if the answer is no problem. */
    String kind() {
      int at = body.indexOf("/problems/");
      return at < 0 ? "" + status : body.substring(at + 10, body.indexOf('"', at));
    }
  }

  Answer call(String method, String path, String json) throws IOException, InterruptedException {
    var request =
        HttpRequest.newBuilder(address.resolve(path))
            .timeout(Duration.ofSeconds(90))
            .method(
                method,
                json.isEmpty()
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(json));
    if (!json.isEmpty()) {
      request.header("Content-Type", "application/json");
    }
    if (!key.isEmpty()) {
      request.header("Authorization", "Bearer " + key);
    }
    request.header("Accept", "application/json");
    var response = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    return new Answer(response.statusCode(), response.body());
  }

  /** Returns a socket over which these bytes were sent. */
  Socket open(String bytes) throws IOException {
    var socket = new Socket(address.getHost(), address.getPort());
    try {
      socket.setSoTimeout(20_000);
      socket.getOutputStream().write(bytes.getBytes(StandardCharsets.US_ASCII));
      return socket;
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  /** Returns the head of a request with a body of this length. */
  String head(String line, long length) {
    return line
        + " HTTP/1.1\r\nHost: "
        + address.getAuthority()
        + "\r\n"
        + authorization()
        + "Content-Type: application/json\r\nContent-Length: "
        + length
        + "\r\n\r\n";
  }

  /** Returns a whole request without a body. */
  String request(String line, String... headers) {
    var head = new StringBuilder(line + " HTTP/1.1\r\nHost: " + address.getAuthority() + "\r\n");
    for (var header : headers) {
      head.append(header).append("\r\n");
    }
    return head.append(authorization()).append("\r\n").toString();
  }

  /** Returns the head of a request whose body comes in chunks. */
  String chunkedHead(String line) {
    return line
        + " HTTP/1.1\r\nHost: "
        + address.getAuthority()
        + "\r\n"
        + authorization()
        + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
  }
}
