package dev.sessionkeeper.cli.demo;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import tools.jackson.databind.json.JsonMapper;

/** A bot's endpoint that refuses one request in five and reports the handled ones. */
final class FlakyEndpoint implements AutoCloseable {
  private static final double FAILS = 0.2;
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private final HttpServer server;
  private final Consumer<Handled> report;
  private final AtomicInteger requests = new AtomicInteger();

  private FlakyEndpoint(HttpServer server, Consumer<Handled> report) {
    this.server = server;
    this.report = report;
  }

  /** Listens on this port of the loopback address; 0 for a free one. */
  static FlakyEndpoint start(int port, Consumer<Handled> report) throws IOException {
    var server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    var endpoint = new FlakyEndpoint(server, report);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/hook", endpoint::answer);
    server.start();
    return endpoint;
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort() + "/hook";
  }

  /** Returns how many requests have arrived. */
  int requests() {
    return requests.get();
  }

  private void answer(HttpExchange exchange) throws IOException {
    var payload = JSON.readTree(exchange.getRequestBody().readAllBytes());
    var session = exchange.getRequestHeaders().getFirst("Keeper-Session-Id");
    if (session == null || !payload.has(GitHubBurst.STEP)) {
      exchange.sendResponseHeaders(204, -1);
      exchange.close();
      return;
    }
    requests.incrementAndGet();
    int step = payload.get(GitHubBurst.STEP).asInt();
    boolean fails = ThreadLocalRandom.current().nextDouble() < FAILS;
    tell(session, step, fails ? Handled.Step.FAILED : Handled.Step.COMPLETING);
    if (!fails) {
      tell(session, step, Handled.Step.COMPLETED);
    }
    exchange.sendResponseHeaders(fails ? 500 : 204, -1);
    exchange.close();
  }

  private void tell(String session, int step, Handled.Step how) {
    report.accept(new Handled("the endpoint", session, step, 0, how));
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
