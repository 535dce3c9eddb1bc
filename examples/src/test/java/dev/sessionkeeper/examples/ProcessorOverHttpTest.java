package dev.sessionkeeper.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.client.KeeperClient;
import dev.sessionkeeper.client.provider.ServerQueueProvider;
import dev.sessionkeeper.processor.SessionProcessor;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A processor over HTTP, behind a proxy that counts the requests and loses some answers. */
class ProcessorOverHttpTest {
  private static final QueueName ORDERS = QueueName.of("orders");
  private static final int SESSIONS = 20;
  private static final int IN_A_SESSION = 50;

  private LocalServer server;
  private Proxy proxy;
  private KeeperClient client;
  private ServerQueueProvider provider;

  @BeforeEach
  void start() throws IOException {
    server = LocalServer.start();
    proxy = new Proxy(server.client().server());
    client = KeeperClient.of(proxy.address());
    provider = ServerQueueProvider.over(client);
  }

  @AfterEach
  void stop() {
    provider.close();
    client.close();
    proxy.close();
    server.close();
  }

  private void send() {
    provider.declare(ORDERS, QueueSettings.ordered());
    for (int n = 1; n <= IN_A_SESSION; n++) {
      int number = n;
      provider.send(
          ORDERS,
          IntStream.range(0, SESSIONS)
              .mapToObj(s -> Message.of(SessionId.of("s" + s), Payload.json("" + number)))
              .toList());
    }
  }

  private Map<SessionId, List<Integer>> handled(IntPredicate failsOnce) {
    var handled = new ConcurrentHashMap<SessionId, List<Integer>>();
    var processor =
        SessionProcessor.builder(
                provider,
                ORDERS,
                (delivery, session) -> {
                  int number = Integer.parseInt(delivery.payload().asText());
                  if (delivery.attempt() == 1 && failsOnce.test(number)) {
                    return Settlement.retryAfter(Duration.ZERO);
                  }
                  handled.computeIfAbsent(session.id(), id -> new ArrayList<>()).add(number);
                  return Settlement.complete();
                })
            .maxConcurrentSessions(8)
            .build()
            .start();
    try (processor) {
      await()
          .atMost(Duration.ofMinutes(2))
          .until(() -> provider.stats(ORDERS).depth(), depth -> depth == 0);
    }
    return handled;
  }

  private static void assertCompleteAndInOrder(Map<SessionId, List<Integer>> handled) {
    assertThat(handled).hasSize(SESSIONS);
    assertThat(handled.values())
        .allSatisfy(
            numbers ->
                assertThat(numbers)
                    .isEqualTo(IntStream.rangeClosed(1, IN_A_SESSION).boxed().toList()));
  }

  @Test
  void oneRequestServesManySessionsAndMessages() {
    send();

    assertCompleteAndInOrder(handled(number -> false));

    assertThat(proxy.count("/settlements")).isZero();
    assertThat(proxy.count("/messages?")).isLessThan(SESSIONS * IN_A_SESSION / 10);
    assertThat(proxy.count("/work")).isPositive().isLessThan(SESSIONS * IN_A_SESSION / 4);
  }

  @Test
  void aRetriedMessageIsHandledBeforeItsSuccessors() {
    send();

    assertCompleteAndInOrder(handled(number -> number % 20 == 0));
  }

  @Test
  void aLostAnswerDoesNothingTwiceAndLosesNothing() {
    send();
    proxy.loseEvery(4, "/work");

    assertCompleteAndInOrder(handled(number -> false));
    assertThat(proxy.lost()).isPositive();
  }

  @Test
  void aSessionGrantedToAnInterruptedCallIsReleased() throws Exception {
    provider.declare(ORDERS, QueueSettings.ordered());
    var sessions = provider.sessions(ORDERS);
    provider.send(ORDERS, Message.of(SessionId.of("first"), Payload.text("1")));
    complete(accepted(sessions.acceptNext(Owner.of("worker"), Duration.ofSeconds(20))));
    proxy.stallGrants();
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var waiting =
          threads.submit(() -> sessions.acceptNext(Owner.of("worker"), Duration.ofMinutes(1)));
      provider.send(ORDERS, Message.of(SessionId.of("second"), Payload.text("2")));
      proxy.awaitStalledGrant();
      waiting.cancel(true);
    }
    proxy.stallNoMore();

    var next = sessions.acceptNext(Owner.of("worker"), Duration.ofSeconds(20));

    assertThat(accepted(next).id()).isEqualTo(SessionId.of("second"));
    complete(accepted(next));
  }

  @Test
  void aWrongSettlementDoesNotUndoTheOneBeforeIt() throws Exception {
    provider.declare(ORDERS, QueueSettings.ordered());
    for (int n = 1; n <= 3; n++) {
      provider.send(ORDERS, Message.of(SessionId.of("a"), Payload.text("" + n)));
    }
    var session =
        accepted(provider.sessions(ORDERS).acceptNext(Owner.of("w"), Duration.ofSeconds(20)));
    var messages = session.receive(3, Duration.ZERO);

    var first = session.settle(List.of(completed(messages.get(0).sequence())));
    var third = session.settle(List.of(completed(messages.get(2).sequence())));

    assertThat(first.toCompletableFuture().get()).isNull();
    assertThatThrownBy(() -> third.toCompletableFuture().get())
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(KeeperException.OutOfOrder.class);
    session.close();
    assertThat(provider.stats(ORDERS).depth()).isEqualTo(2);
  }

  private static HeldSession accepted(AcceptResult result) {
    assertThat(result).isInstanceOf(AcceptResult.Accepted.class);
    return ((AcceptResult.Accepted) result).session();
  }

  private static void complete(HeldSession session) throws Exception {
    var messages = session.receiveKnown(1, Duration.ZERO);
    var durable = session.settle(List.of(completed(messages.getFirst().sequence())));
    session.close();
    assertThat(durable.toCompletableFuture().get()).isNull();
  }

  private static HeldSession.Settled completed(long sequence) {
    return new HeldSession.Settled(sequence, Settlement.complete());
  }

  /** Passes requests on to a server. */
  private static final class Proxy implements AutoCloseable {
    private final HttpServer proxy = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    private final HttpClient http =
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final List<String> requests = Collections.synchronizedList(new ArrayList<>());
    private final AtomicInteger losable = new AtomicInteger();
    private final AtomicInteger lost = new AtomicInteger();
    private final URI server;
    private final CountDownLatch stalled = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);
    private volatile boolean stalls;
    private volatile int every;
    private volatile String what = "";

    Proxy(URI server) throws IOException {
      this.server = server;
      proxy.createContext("/", this::pass);
      proxy.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
      proxy.start();
    }

    URI address() {
      return URI.create("http://127.0.0.1:" + proxy.getAddress().getPort());
    }

    void loseEvery(int nth, String requestsWith) {
      what = requestsWith;
      every = nth;
    }

    /** Holds the next answer that grants a session. */
    void stallGrants() {
      stalls = true;
    }

    void awaitStalledGrant() throws InterruptedException {
      stalled.await();
    }

    void stallNoMore() {
      goOn.countDown();
    }

    int lost() {
      return lost.get();
    }

    int count(String part) {
      return (int) List.copyOf(requests).stream().filter(each -> each.contains(part)).count();
    }

    private void pass(HttpExchange exchange) throws IOException {
      try (exchange) {
        var uri = exchange.getRequestURI().toString();
        requests.add(uri);
        var request =
            HttpRequest.newBuilder(server.resolve(uri))
                .method(
                    exchange.getRequestMethod(),
                    BodyPublishers.ofByteArray(exchange.getRequestBody().readAllBytes()));
        for (var name : List.of("Content-Type", "If-Match")) {
          var value = exchange.getRequestHeaders().getFirst(name);
          if (value != null) {
            request.header(name, value);
          }
        }
        var answer = http.send(request.build(), BodyHandlers.ofByteArray());
        if (every > 0 && uri.contains(what) && losable.incrementAndGet() % every == 0) {
          lost.incrementAndGet();
          return; // Closes the connection without an answer.
        }
        if (stalls && new String(answer.body(), StandardCharsets.UTF_8).contains("leaseId")) {
          stalls = false;
          stalled.countDown();
          goOn.await();
        }
        answer
            .headers()
            .firstValue("ETag")
            .ifPresent(tag -> exchange.getResponseHeaders().set("ETag", tag));
        boolean isEmpty = answer.body().length == 0;
        exchange.sendResponseHeaders(answer.statusCode(), isEmpty ? -1 : answer.body().length);
        if (!isEmpty) {
          exchange.getResponseBody().write(answer.body());
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    public void close() {
      goOn.countDown();
      proxy.stop(0);
      http.close();
    }
  }
}
