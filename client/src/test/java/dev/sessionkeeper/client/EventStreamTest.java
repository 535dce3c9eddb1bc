package dev.sessionkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.RetryPolicy;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Runs streams against a server that answers each connection as the test says. */
@Tag("slow")
class EventStreamTest {
  private static final RetryPolicy QUICK =
      new RetryPolicy(Integer.MAX_VALUE, Duration.ofMillis(5), 1, Duration.ofMillis(5), 0);

  private final ConcurrentLinkedDeque<Answer> script = new ConcurrentLinkedDeque<>();
  private final List<String> askedFrom = new CopyOnWriteArrayList<>();
  private final List<Long> handled = new CopyOnWriteArrayList<>();
  private final CountDownLatch end = new CountDownLatch(1);
  private HttpServer server;

  private interface Answer {
    void to(HttpExchange exchange) throws IOException;
  }

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/streams/s/events", this::answer);
    server.start();
  }

  @AfterEach
  void stop() {
    end.countDown();
    server.stop(0);
  }

  private void answer(HttpExchange exchange) throws IOException {
    askedFrom.add(String.valueOf(exchange.getRequestHeaders().getFirst("Last-Event-ID")));
    var next = script.poll();
    if (next == null) {
      next = hold("");
    }
    next.to(exchange);
  }

  /** Sends the text and closes the connection. */
  private static Answer send(String text) {
    return exchange -> {
      try (exchange) {
        exchange.sendResponseHeaders(200, 0);
        exchange.getResponseBody().write(text.getBytes(StandardCharsets.UTF_8));
      }
    };
  }

  /** Sends the text and stays silent. */
  private Answer hold(String text) {
    return exchange -> {
      exchange.sendResponseHeaders(200, 0);
      exchange.getResponseBody().write(text.getBytes(StandardCharsets.UTF_8));
      exchange.getResponseBody().flush();
      try (exchange) {
        end.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    };
  }

  private static Answer status(int status) {
    return exchange -> {
      try (exchange) {
        exchange.sendResponseHeaders(status, -1);
      }
    };
  }

  private static String events(long from, long to) {
    var text = new StringBuilder();
    for (long id = from; id <= to; id++) {
      text.append("id: ").append(id).append("\nevent: tick\ndata: ").append(id).append("\n\n");
    }
    return text.toString();
  }

  private EventStream.Builder stream() {
    return EventStream.of(
            URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/"), "s")
        .retry(QUICK);
  }

  @Test
  void itResumesAfterTheLastHandledEventAndDropsRepeats() {
    script.add(send(events(1, 3)));
    script.add(status(503));
    script.add(send(events(2, 5) + "id: 6\ndata: ha"));
    script.add(hold(events(6, 6)));
    try (var stream = stream().after(0).open(event -> handled.add(event.id()))) {
      await().until(() -> handled.size() == 6);
      assertThat(handled).containsExactly(1L, 2L, 3L, 4L, 5L, 6L);
      assertThat(askedFrom).containsExactly("0", "3", "3", "5");
      assertThat(stream.lastEventId()).hasValue(6);
    }
  }

  @Test
  void anEventCountsOnlyWhenItsHandlerReturned() {
    script.add(send(events(1, 3)));
    script.add(hold(events(2, 3)));
    var failures = new AtomicInteger();
    EventHandler failsOnce =
        event -> {
          if (event.id() == 2 && failures.getAndIncrement() == 0) {
            throw new IOException("try again");
          }
          handled.add(event.id());
        };
    try (var stream = stream().after(0).open(failsOnce)) {
      await().until(() -> handled.size() == 3);
      assertThat(handled).containsExactly(1L, 2L, 3L);
      assertThat(askedFrom).containsExactly("0", "1");
      assertThat(stream.hasEnded()).isFalse();
    }
  }

  @Test
  void aGapIsToldAndTheStreamGoesOnBehindIt() {
    script.add(
        hold("id: 6\nevent: gap\ndata: {\"lastEventId\":2,\"firstId\":7}\n\n" + events(7, 7)));
    var gaps = new CopyOnWriteArrayList<Long>();
    var handler =
        new EventHandler() {
          @Override
          public void onEvent(StreamedEvent event) {
            handled.add(event.id());
          }

          @Override
          public void onGap(long had, long first) {
            gaps.add(had);
            gaps.add(first);
          }
        };
    try (var stream = stream().after(2).open(handler)) {
      await().until(() -> handled.contains(7L));
      assertThat(gaps).containsExactly(2L, 7L);
      assertThat(stream.lastEventId()).hasValue(7);
    }
  }

  @Test
  void aRefusalForGoodEndsTheStream() {
    script.add(status(404));
    var refused = new CopyOnWriteArrayList<KeeperException>();
    var handler =
        new EventHandler() {
          @Override
          public void onEvent(StreamedEvent event) {}

          @Override
          public void onRefused(KeeperException why) {
            refused.add(why);
          }
        };
    try (var stream = stream().open(handler)) {
      await().until(stream::hasEnded);
      assertThat(refused).singleElement().isInstanceOf(KeeperException.Rejected.class);
      assertThat(askedFrom).containsExactly("null");
    }
  }

  @Test
  void aSilentConnectionIsGivenUp() {
    script.add(hold(events(1, 1)));
    script.add(hold(events(2, 2)));
    try (var stream =
        stream().after(0).silence(Duration.ofMillis(1500)).open(event -> handled.add(event.id()))) {
      await().until(() -> handled.contains(2L));
      assertThat(askedFrom).startsWith("0", "1");
      assertThat(stream.hasEnded()).isFalse();
    }
  }

  @Test
  void closingEndsAnOpenConnection() {
    var stream = stream().after(0).open(event -> handled.add(event.id()));
    await().until(() -> !askedFrom.isEmpty());
    stream.close();
    assertThat(stream.hasEnded()).isTrue();
  }
}
