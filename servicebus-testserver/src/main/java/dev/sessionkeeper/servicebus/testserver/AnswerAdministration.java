package dev.sessionkeeper.servicebus.testserver;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The queue part of the administration API: Atom entries over plain HTTP. */
final class AnswerAdministration implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(AnswerAdministration.class);
  private static final String LIST = "$Resources/queues";

  private final EventLoop loop;
  private final Broker broker;
  private final HttpServer http;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Map<String, String> descriptions = new ConcurrentHashMap<>();

  AnswerAdministration(EventLoop loop, Broker broker) throws IOException {
    this.loop = loop;
    this.broker = broker;
    http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    http.setExecutor(threads);
    http.createContext("/", this::answer);
  }

  void start() {
    http.start();
  }

  URI endpoint() {
    return URI.create("http://localhost:" + http.getAddress().getPort());
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      var path = exchange.getRequestURI().getPath().substring(1);
      switch (exchange.getRequestMethod()) {
        case "PUT" -> put(exchange, path);
        case "GET" -> get(exchange, path);
        case "DELETE" -> delete(exchange, path);
        default -> reply(exchange, 405, "");
      }
    } catch (RuntimeException e) {
      log.error("An administration request failed", e);
    }
  }

  private void put(HttpExchange exchange, String queue) throws IOException {
    var body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    boolean update = exchange.getRequestHeaders().containsKey("If-Match");
    boolean exists = loop.call(() -> broker.find(queue).isPresent());
    if (exists && !update) {
      reply(exchange, 409, QueueXml.error(409, "The queue exists"));
      return;
    }
    var description = QueueXml.descriptionIn(body);
    loop.call(() -> broker.declare(queue, QueueXml.options(description)));
    descriptions.put(queue, description);
    reply(exchange, update ? 200 : 201, QueueXml.entry(queue, description));
  }

  private void get(HttpExchange exchange, String path) throws IOException {
    if (path.equalsIgnoreCase(LIST)) {
      // All entries fit into the first page; further pages are empty.
      var query = exchange.getRequestURI().getQuery();
      boolean first = query == null || !query.contains("$skip=") || query.contains("$skip=0");
      reply(exchange, 200, QueueXml.feed(first ? known() : Map.of()));
      return;
    }
    var description = known().get(path);
    if (description == null) {
      // As Azure does: an empty feed instead of an error.
      reply(exchange, 200, QueueXml.feed(Map.of()));
    } else {
      reply(exchange, 200, QueueXml.entry(path, counted(path, description)));
    }
  }

  private String counted(String queue, String description) {
    return loop.call(
        () -> {
          var found = broker.find(queue).orElseThrow();
          long dead = found.deadLetters == null ? 0 : found.deadLetters.size();
          return QueueXml.counted(description, found.size(), dead);
        });
  }

  private Map<String, String> known() {
    var all = new java.util.TreeMap<String, String>();
    for (var name : loop.call(broker::names)) {
      var options = loop.call(() -> broker.find(name).orElseThrow().options());
      all.put(name, descriptions.computeIfAbsent(name, unseen -> QueueXml.description(options)));
    }
    return all;
  }

  private void delete(HttpExchange exchange, String queue) throws IOException {
    boolean deleted = loop.call(() -> broker.delete(queue));
    descriptions.remove(queue);
    reply(exchange, deleted ? 200 : 404, "");
  }

  private static void reply(HttpExchange exchange, int status, String body) throws IOException {
    var bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/atom+xml;charset=utf-8");
    exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
    if (bytes.length > 0) {
      exchange.getResponseBody().write(bytes);
    }
  }

  @Override
  public void close() {
    http.stop(0);
    threads.close();
  }
}
