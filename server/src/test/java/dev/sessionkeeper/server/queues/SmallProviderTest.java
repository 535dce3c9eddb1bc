package dev.sessionkeeper.server.queues;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.memory.MemoryQueueProvider;
import dev.sessionkeeper.server.TestServer;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.Capabilities;
import dev.sessionkeeper.spi.MessageSource;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.spi.SessionSource;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The API over a provider that has none of the optional abilities, as SQS has few. */
class SmallProviderTest {
  private TestServer server;

  @BeforeEach
  void start() {
    server = TestServer.over(new SmallProvider());
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

  /** A provider with nothing but what every provider must have. */
  private static final class SmallProvider implements QueueProvider {
    private final MemoryQueueProvider memory = MemoryQueueProvider.create();

    @Override
    public Capabilities capabilities() {
      return memory.capabilities();
    }

    @Override
    public boolean declare(QueueName queue, QueueSettings settings) {
      return memory.declare(queue, settings);
    }

    @Override
    public Optional<QueueSettings> settings(QueueName queue) {
      return memory.settings(queue);
    }

    @Override
    public List<QueueName> queues() {
      return memory.queues();
    }

    @Override
    public List<SendOutcome> send(QueueName queue, List<Message> messages) {
      return memory.send(queue, messages);
    }

    @Override
    public SessionSource sessions(QueueName queue) {
      var sessions = memory.sessions(queue);
      return new SessionSource() {
        @Override
        public AcceptResult acceptNext(Owner owner, Duration wait) throws InterruptedException {
          return sessions.acceptNext(owner, wait);
        }

        @Override
        public boolean hasReadySession() {
          return sessions.hasReadySession();
        }
      };
    }

    @Override
    public MessageSource messages(QueueName queue) {
      return memory.messages(queue);
    }

    @Override
    public void close() {
      memory.close();
    }
  }
}
