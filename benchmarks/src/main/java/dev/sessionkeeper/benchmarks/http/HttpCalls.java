package dev.sessionkeeper.benchmarks.http;

import dev.sessionkeeper.QueueName;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;

/** Calls the HTTP API as a client without a library would. Threads: any. */
final class HttpCalls implements AutoCloseable {
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final String address;

  HttpCalls(String address) {
    this.address = address;
  }

  void declare(QueueName queue) {
    call("PUT", "/queues/" + queue.value(), "{\"mode\":\"ORDERED\"}");
  }

  void send(QueueName queue, Iterable<Way.Outgoing> messages) {
    var body = new StringBuilder("{\"messages\":[");
    var comma = "";
    for (var each : messages) {
      body.append(comma).append("{\"sessionId\":\"").append(each.session());
      body.append("\",\"body\":").append(each.json()).append('}');
      comma = ",";
    }
    call("POST", "/queues/" + queue.value() + "/messages", body.append("]}").toString());
  }

  ReadWorkAnswer.Answer work(QueueName queue, String round) {
    return ReadWorkAnswer.from(call("POST", "/queues/" + queue.value() + "/work", round));
  }

  private byte[] call(String method, String path, String json) {
    var request =
        HttpRequest.newBuilder(URI.create(address + path))
            .header("Content-Type", "application/json")
            .method(method, BodyPublishers.ofString(json))
            .build();
    try {
      var answer = client.send(request, BodyHandlers.ofByteArray());
      if (answer.statusCode() / 100 != 2) {
        throw new IllegalStateException(
            method
                + " "
                + path
                + " answered "
                + answer.statusCode()
                + " "
                + new String(answer.body(), StandardCharsets.UTF_8));
      }
      return answer.body();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    client.close();
  }
}
