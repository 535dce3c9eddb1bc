package dev.sessionkeeper.sqs;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.regex.Pattern;
import software.amazon.awssdk.http.AbortableInputStream;
import software.amazon.awssdk.http.ExecutableHttpRequest;
import software.amazon.awssdk.http.HttpExecuteRequest;
import software.amazon.awssdk.http.HttpExecuteResponse;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.SdkHttpResponse;

/** Refuses calls outside a policy as AWS does, and lets the others through. */
final class NarrowRights implements SdkHttpClient {
  private static final Pattern QUEUE =
      Pattern.compile("\"Queue(?:Url|Name)\":\"(?:[^\"]*/)?([^\"/]+)\"");

  private final SdkHttpClient client;
  private final Map<String, Set<String>> allowed;
  private final Queue<String> refused = new ConcurrentLinkedQueue<>();

  /**
   * Creates the client.
   *
   * @param allowed the allowed actions, by the name of the queue
   */
  NarrowRights(SdkHttpClient client, Map<String, Set<String>> allowed) {
    this.client = client;
    this.allowed = allowed;
  }

  /** Returns the refused calls, such as {@code ListQueueTags orders.fifo}. */
  Queue<String> refused() {
    return refused;
  }

  @Override
  public ExecutableHttpRequest prepareRequest(HttpExecuteRequest request) {
    var target = request.httpRequest().firstMatchingHeader("X-Amz-Target").orElseThrow();
    var action = target.substring(target.indexOf('.') + 1);
    var queue = QUEUE.matcher(bodyOf(request));
    var name = queue.find() ? queue.group(1) : "";
    if (allowed.getOrDefault(name, Set.of()).contains(action)) {
      return client.prepareRequest(request);
    }
    refused.add(action + " " + name);
    return new Refusal(action);
  }

  private static String bodyOf(HttpExecuteRequest request) {
    try (var body = request.contentStreamProvider().orElseThrow().newStream()) {
      return new String(body.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    client.close();
  }

  private record Refusal(String action) implements ExecutableHttpRequest {
    @Override
    public HttpExecuteResponse call() {
      var body =
          """
          {"__type":"com.amazon.coral.service#AccessDeniedException",
           "message":"User: narrow is not authorized to perform: sqs:%s"}"""
              .formatted(action)
              .getBytes(StandardCharsets.UTF_8);
      return HttpExecuteResponse.builder()
          .response(
              SdkHttpResponse.builder()
                  .statusCode(400)
                  .putHeader("Content-Type", "application/x-amz-json-1.0")
                  .putHeader("Content-Length", Integer.toString(body.length))
                  .build())
          .responseBody(AbortableInputStream.create(new ByteArrayInputStream(body)))
          .build();
    }

    @Override
    public void abort() {}
  }
}
