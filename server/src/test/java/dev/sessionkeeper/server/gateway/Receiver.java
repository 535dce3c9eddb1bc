package dev.sessionkeeper.server.gateway;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/** A bot's endpoint that answers as the test says and records its posts. */
final class Receiver implements AutoCloseable {
  private final HttpServer server;
  private final Function<Post, Answer> behaviour;
  private final Map<String, AtomicInteger> busy = new ConcurrentHashMap<>();
  final Queue<Post> posts = new ConcurrentLinkedQueue<>();
  final AtomicInteger overlaps = new AtomicInteger();

  /** A post that arrived. */
  record Post(Headers headers, byte[] body) {
    String header(String name) {
      var value = headers.getFirst(name);
      return value == null ? "" : value;
    }

    String session() {
      return header("Keeper-Session-Id");
    }

    int attempt() {
      return Integer.parseInt(header("Keeper-Attempt"));
    }
  }

  /** An answer; status 0 closes the connection instead. */
  record Answer(int status, Map<String, String> headers) {
    static Answer of(int status) {
      return new Answer(status, Map.of());
    }
  }

  Receiver(Function<Post, Answer> behaviour) throws IOException {
    this.behaviour = behaviour;
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", this::answer);
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort() + "/hook";
  }

  private void answer(HttpExchange exchange) throws IOException {
    var post = new Post(exchange.getRequestHeaders(), exchange.getRequestBody().readAllBytes());
    var holders = busy.computeIfAbsent(post.session(), session -> new AtomicInteger());
    if (holders.incrementAndGet() > 1) {
      overlaps.incrementAndGet();
    }
    Answer answer;
    try {
      answer = behaviour.apply(post);
      posts.add(post);
    } finally {
      holders.decrementAndGet();
    }
    if (answer.status() > 0) {
      answer.headers().forEach((name, value) -> exchange.getResponseHeaders().set(name, value));
      exchange.sendResponseHeaders(answer.status(), -1);
    }
    exchange.close();
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
