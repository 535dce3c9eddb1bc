package dev.sessionkeeper.server.security;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;

/** Calls an OpenID Connect provider over HTTP. Waits at most ten seconds for an answer. */
public final class CallProvider {
  private static final Duration CONNECT = Duration.ofSeconds(5);
  private static final Duration ANSWER = Duration.ofSeconds(10);

  private CallProvider() {}

  /**
   * Reads a document.
   *
   * @throws IOException if the provider does not answer with 200
   */
  public static String get(URI address) throws IOException {
    return send(HttpRequest.newBuilder(address));
  }

  /**
   * Posts a form.
   *
   * @param authorization the value of that header; blank for none
   * @throws IOException if the provider does not answer with 200
   */
  public static String post(URI address, String form, String authorization) throws IOException {
    var request =
        HttpRequest.newBuilder(address)
            .header("Content-Type", "application/x-www-form-urlencoded")
            .header("Accept", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(form));
    return send(authorization.isEmpty() ? request : request.header("Authorization", authorization));
  }

  private static String send(HttpRequest.Builder request) throws IOException {
    try (var client = HttpClient.newBuilder().connectTimeout(CONNECT).build()) {
      var sent = request.timeout(ANSWER).build();
      var response = client.send(sent, HttpResponse.BodyHandlers.ofString());
      if (response.statusCode() != 200) {
        throw new IOException(sent.uri() + " answered " + response.statusCode());
      }
      return response.body();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("Interrupted", e);
    }
  }
}
