package dev.sessionkeeper.registry.receiver;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.sessionkeeper.time.TimeSource;
import dev.sessionkeeper.webhook.WebhookSignature;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Base64;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;

/**
 * A receiver of usage on loopback: it checks signature and digest, applies each record once,
 * answers 2xx only afterwards, and shows the sums at {@code GET /usages}.
 */
public final class UsageReceiver implements AutoCloseable {
  private static final Duration TOLERANCE = Duration.ofMinutes(5);

  private final HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Optional<WebhookSignature> signature;
  private final AppliedUsage applied = new AppliedUsage();
  private final CountDownLatch closed = new CountDownLatch(1);
  private final ConcurrentLinkedQueue<String> complaints = new ConcurrentLinkedQueue<>();
  private volatile Supplier<Fault> faults = () -> Fault.NONE;

  private UsageReceiver(HttpServer server, Optional<WebhookSignature> signature) {
    this.server = server;
    this.signature = signature;
  }

  /**
   * Starts on a port of loopback.
   *
   * @param port 0 for any free one
   */
  public static UsageReceiver start(int port, Optional<WebhookSignature> signature)
      throws IOException {
    var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    var receiver = new UsageReceiver(HttpServer.create(address, 0), signature);
    receiver.server.createContext("/usages", receiver::handle);
    receiver.server.setExecutor(receiver.threads);
    receiver.server.start();
    return receiver;
  }

  public URI url() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/usages");
  }

  /** Sets the script that chooses the fault of each post. */
  public void failWith(Supplier<Fault> script) {
    faults = script;
  }

  public AppliedUsage applied() {
    return applied;
  }

  /** Returns the errors of the sender: wrong signatures, wrong digests, changed bytes. */
  public Iterable<String> complaints() {
    return complaints;
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      if (exchange.getRequestMethod().equals("GET")) {
        answer(exchange, 200, sums());
        return;
      }
      receive(exchange, faults.get());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void receive(HttpExchange exchange, Fault fault)
      throws IOException, InterruptedException {
    var body = body(exchange, fault == Fault.DRIP);
    switch (fault) {
      case DOWN -> answer(exchange, 503, "{}");
      case REFUSE -> answer(exchange, 422, "{}");
      case TOO_MANY -> {
        exchange.getResponseHeaders().set("Retry-After", "1");
        answer(exchange, 429, "{}");
      }
      case NONE -> answer(exchange, apply(exchange, body), "{}");
      case ERROR_AFTER_APPLYING -> {
        apply(exchange, body);
        answer(exchange, 500, "{}");
      }
      case SILENT_AFTER_APPLYING -> {
        apply(exchange, body);
        closed.await();
      }
      case CUT_AFTER_APPLYING -> apply(exchange, body);
      case DRIP -> drip(exchange, apply(exchange, body));
    }
  }

  private int apply(HttpExchange exchange, byte[] body) {
    var headers = exchange.getRequestHeaders();
    var key = String.valueOf(headers.getFirst("Idempotency-Key"));
    var sha256 = sha256(body);
    var digest = "sha-256=:" + Base64.getEncoder().encodeToString(sha256) + ":";
    if (!digest.equals(headers.getFirst("Content-Digest"))) {
      return complain(400, "wrong Content-Digest of " + key);
    }
    if (!isSigned(exchange, body)) {
      return complain(401, "wrong signature of " + key);
    }
    var sequence = Long.parseLong(headers.getFirst("Keeper-Sequence"));
    return switch (applied.apply(key, sha256, sequence, ReadRecords.of(body))) {
      case APPLIED, REPEATED -> 200;
      case CONFLICT -> complain(409, "other bytes under " + key);
    };
  }

  private boolean isSigned(HttpExchange exchange, byte[] body) {
    var headers = exchange.getRequestHeaders();
    return signature.isEmpty()
        || signature
            .get()
            .verify(
                String.valueOf(headers.getFirst(WebhookSignature.ID_HEADER)),
                String.valueOf(headers.getFirst(WebhookSignature.TIMESTAMP_HEADER)),
                String.valueOf(headers.getFirst(WebhookSignature.SIGNATURE_HEADER)),
                body,
                TimeSource.system().instant(),
                TOLERANCE);
  }

  private int complain(int status, String what) {
    complaints.add(what);
    return status;
  }

  private static byte[] body(HttpExchange exchange, boolean slowly)
      throws IOException, InterruptedException {
    if (!slowly) {
      return exchange.getRequestBody().readAllBytes();
    }
    var all = new ByteArrayOutputStream();
    var some = new byte[16_384];
    for (int n = exchange.getRequestBody().read(some);
        n >= 0;
        n = exchange.getRequestBody().read(some)) {
      all.write(some, 0, n);
      Thread.sleep(5);
    }
    return all.toByteArray();
  }

  private static void drip(HttpExchange exchange, int status)
      throws IOException, InterruptedException {
    exchange.sendResponseHeaders(status, 0);
    for (int i = 0; i < 10; i++) {
      exchange.getResponseBody().write(' ');
      exchange.getResponseBody().flush();
      Thread.sleep(20);
    }
  }

  private String sums() {
    var text = new StringBuilder("{");
    new TreeMap<>(applied.sums())
        .forEach(
            (tenant, units) ->
                text.append(text.length() == 1 ? "\"" : ",\"")
                    .append(tenant)
                    .append("\":")
                    .append(units.toPlainString()));
    return text.append('}').toString();
  }

  private static void answer(HttpExchange exchange, int status, String json) throws IOException {
    var bytes = json.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  private static byte[] sha256(byte[] body) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(body);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("Every Java platform has SHA-256", e);
    }
  }

  @Override
  public void close() {
    closed.countDown();
    server.stop(0);
    threads.shutdownNow();
  }
}
