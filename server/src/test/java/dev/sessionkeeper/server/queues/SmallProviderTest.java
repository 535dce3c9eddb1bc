package dev.sessionkeeper.server.queues;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.memory.MemoryQueueProvider;
import dev.sessionkeeper.server.TestServer;
import dev.sessionkeeper.testkit.DelegatingProvider;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The API over a provider without optional interfaces. */
class SmallProviderTest {
  private TestServer server;

  @BeforeEach
  void start() {
    server = TestServer.over(new DelegatingProvider(MemoryQueueProvider.create()));
    server.put("/queues/q", "{\"mode\":\"ORDERED\"}");
    server.post(
        "/queues/q/messages",
        "{\"messages\":[{\"sessionId\":\"s\",\"body\":1},{\"sessionId\":\"s\",\"body\":2}]}");
  }

  @AfterEach
  void stop() {
    server.close();
  }

  @Test
  void leasesAreKeptInThisProcess() {
    var reply = server.post("/queues/q/leases", "{}");
    assertThat(reply.status()).isEqualTo(201);
    var lease = "/queues/q/leases/" + reply.json().get("leaseId").asString();
    var messages = server.get(lease + "/messages").json().get("messages");
    assertThat(messages).hasSize(2);
    var settled =
        server.post(
            lease + "/settlements",
            "{\"settlements\":[{\"sequence\":%d,\"action\":\"complete\"}]}"
                .formatted(messages.get(0).get("sequence").asLong()));
    assertThat(settled.status()).isEqualTo(200);
    assertThat(server.delete(lease).status()).isEqualTo(204);
    assertThat(server.delete(lease).problem()).isEqualTo("session-lock-lost");
  }

  @Test
  void whatTheProviderCannotDoIsAProblemThatNamesIt() {
    for (var call :
        Map.of(
                "addressableSessions", server.post("/queues/q/leases", "{\"sessionId\":\"s\"}"),
                "inspect", server.get("/queues/q/sessions"),
                "operate",
                    server.post(
                        "/queues/q/sessions/actions", "{\"sessionId\":\"s\",\"action\":\"pause\"}"),
                "deadLetters", server.get("/queues/q/dead-letters"))
            .entrySet()) {
      assertThat(call.getValue().status()).as(call.getKey()).isEqualTo(409);
      assertThat(call.getValue().problem()).isEqualTo("not-supported");
      assertThat(call.getValue().json().get("provider").asString()).isEqualTo("memory");
      assertThat(call.getValue().json().get("capability").asString()).isEqualTo(call.getKey());
    }
  }

  @Test
  void aQueueIsShownWithoutTheNumbersThatNobodyKnows() {
    var queue = server.get("/queues/q").json();
    assertThat(queue.get("mode").asString()).isEqualTo("ORDERED");
    assertThat(queue.has("depth")).isFalse();
    assertThat(server.get("/metrics").status()).isEqualTo(200);
    assertThat(server.get("/").status()).isEqualTo(200);
  }
}
