package dev.sessionkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.sessionkeeper.Payload;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Converts answers of the server to values of this client. */
class TypedAnswersTest {
  private final Map<String, String> answers = new HashMap<>();
  private HttpServer server;
  private KeeperClient client;

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          var call = exchange.getRequestMethod() + " " + exchange.getRequestURI().getPath();
          var body = answers.getOrDefault(call, "{}").getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
    client = KeeperClient.of(URI.create("http://127.0.0.1:" + server.getAddress().getPort()));
  }

  @AfterEach
  void stop() {
    client.close();
    server.stop(0);
  }

  @Test
  void aReceivedMessageHasItsPropertiesAndItsBodyInTheFormItWasSent() {
    answers.put(
        "POST /queues/q/leases",
        """
        {"leaseId":"L","sessionId":"s","epoch":3,"lockedUntil":"2026-01-01T00:00:00Z"}
        """);
    answers.put(
        "GET /queues/q/leases/L/messages",
        """
        {"messages":[
         {"sequence":1,"messageId":"a","sessionId":"s","body":{"n":1.50},"contentType":"application/json",
          "properties":{"event_type":"issues"},"attempt":1,"enqueuedAt":"2026-01-01T00:00:00Z"},
         {"sequence":2,"messageId":"b","sessionId":"s","bodyText":"hello","contentType":"text/plain",
          "properties":{},"attempt":2,"enqueuedAt":"2026-01-01T00:00:00Z"},
         {"sequence":3,"messageId":"c","sessionId":"s","bodyBase64":"AAH/","contentType":"image/png",
          "properties":{},"attempt":1,"enqueuedAt":"2026-01-01T00:00:00Z"}]}
        """);

    var lease = client.queue("q").acceptNext("me", Duration.ZERO).orElseThrow();
    var received = lease.receive(10, Duration.ZERO);

    assertThat(received).hasSize(3);
    assertThat(received.get(0).properties()).containsExactly(Map.entry("event_type", "issues"));
    assertThat(received.get(0).payload()).isEqualTo(Payload.json("{\"n\":1.50}"));
    assertThat(received.get(1).payload()).isEqualTo(Payload.text("hello", "text/plain"));
    assertThat(received.get(1).body().asString()).isEqualTo("hello");
    assertThat(received.get(2).payload())
        .isEqualTo(Payload.bytes(new byte[] {0, 1, -1}, "image/png"));
    assertThat(received.get(1).attempt()).isEqualTo(2);
  }

  @Test
  void aRegisteredSessionIsAValue() {
    var id = UUID.randomUUID();
    var session =
        """
        {"sessionId":"%1$s","userObjectId":"%1$s","tenantObjectId":"%1$s","capacityId":"%1$s","sessionKind":2,
         "sessionStartUtc":"2026-01-01T00:00:00.123456Z","sessionEndUtc":"2026-01-01T01:00:00Z","isActive":true,
         "status":"created","somethingNew":1}
        """
            .formatted(id);
    answers.put("PUT /sessions", session);
    answers.put("GET /sessions", "{\"sessions\":[" + session + "],\"nextCursor\":\"c\"}");

    var put = client.registry().put(id, id, id, 2);
    assertThat(put.status()).contains("created");
    assertThat(put.isActive()).isTrue();
    assertThat(client.registry().list(Map.of("active", "true")).sessions()).containsExactly(put);
    assertThat(client.registry().list(Map.of()).nextCursor()).contains("c");
  }

  @Test
  void amountsOfUsageAreExact() {
    var tenant = UUID.randomUUID();
    answers.put(
        "GET /usages/proof",
        """
        {"tenants":[{"tenantObjectId":"%s","activeMicros":19903766331.427000001,"pendingMetering":0,"corrections":0,
         "ledger":19903766331.427000001,"batches":0,"acknowledged":0,"pending":0,"dead":0,"forgotten":0,
         "differences":{"ledger":0.000,"batches":0,"acknowledged":0}}]}
        """
            .formatted(tenant));

    var proof = client.usage().proof();
    assertThat(proof).hasSize(1);
    assertThat(proof.getFirst().ledger()).isEqualTo(new BigDecimal("19903766331.427000001"));
    assertThat(proof.getFirst().differences().ledger()).isZero();
  }

  @Test
  void aJobTellsItsOwnerAndItsRuns() {
    answers.put(
        "GET /jobs/clean",
        """
        {"name":"clean","interval":"PT15S","misfire":"once","nextRunAt":"2026-01-01T00:00:00Z","paused":false,
         "requested":false,"attempts":0,"owner":"server-1","epoch":7,"history":[
         {"epoch":6,"owner":"server-1","missed":0,"startedAt":"2026-01-01T00:00:00Z","outcome":"done"}]}
        """);

    var job = client.jobs().get("clean");
    assertThat(job.interval()).isEqualTo(Duration.ofSeconds(15));
    assertThat(job.owner()).contains("server-1");
    assertThat(job.lastError()).isEmpty();
    assertThat(job.history()).extracting(JobsClient.Run::outcome).containsExactly("done");
    client.jobs().run("clean");
  }
}
