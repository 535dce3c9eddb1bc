package dev.sessionkeeper.server.samples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.server.TestServer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** The numbers of queues as a stream of events. */
class LiveSamplesTest {
  @Test
  void anEventSaysThatNumbersChangedAndIdleQueuesAreQuiet() throws Exception {
    try (var server = TestServer.start("");
        var client = HttpClient.newHttpClient()) {
      server.put("/queues/orders", "{\"mode\":\"ORDERED\"}");
      server.put("/queues/mails", "{\"mode\":\"ORDERED\"}");
      await().until(() -> server.get("/samples/queues").body().contains("orders"));
      var events = follow(client, server, "orders");
      await().until(() -> count(events, "sample") >= 2);
      assertThat(events).as("nothing happened").doesNotContain("changed");

      send(server, "mails");
      int before = count(events, "sample");
      await().until(() -> count(events, "sample") >= before + 2);
      assertThat(events).as("another queue has changed").doesNotContain("changed");

      send(server, "orders");
      await().until(() -> events.contains("changed"));
      client.shutdownNow();
    }
  }

  private static void send(TestServer server, String queue) {
    server.post(
        "/queues/" + queue + "/messages", "{\"messages\":[{\"sessionId\":\"a\",\"body\":{}}]}");
  }

  private static int count(List<String> events, String name) {
    return (int) events.stream().filter(name::equals).count();
  }

  /** Returns the names of events, which grow as they come. */
  private static List<String> follow(HttpClient client, TestServer server, String queue)
      throws Exception {
    var events = new CopyOnWriteArrayList<String>();
    var address = "http://127.0.0.1:" + server.port() + "/samples/live?queue=" + queue;
    var answer =
        client.send(
            HttpRequest.newBuilder(URI.create(address)).build(),
            HttpResponse.BodyHandlers.ofLines());
    assertThat(answer.statusCode()).isEqualTo(200);
    Thread.ofVirtual()
        .start(
            () -> {
              try (var lines = answer.body()) {
                lines
                    .filter(line -> line.startsWith("event: "))
                    .forEach(line -> events.add(line.substring("event: ".length())));
              } catch (java.io.UncheckedIOException ended) {
                // The test has ended.
              }
            });
    return events;
  }
}
