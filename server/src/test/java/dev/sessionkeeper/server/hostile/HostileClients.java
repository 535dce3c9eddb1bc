package dev.sessionkeeper.server.hostile;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * Clients that break off, flood, do not read, and try to reach data of others. Each kind has a loop
 * of its own.
 */
final class HostileClients {
  static final String LARGE_QUEUE = "/queues/large";
  private static final Pattern RECEIPT = Pattern.compile("\"receipt\":\"([^\"]+)\"");
  private static final long PAUSE_NANOS = 50_000_000;
  private static final int MOST_LARGE = 24;

  /** The stream of the tenant that the hostile credential is bound to. */
  private static final String STREAM = "/streams/tenant." + HostileRun.TENANT + ".noise";

  private final Wire insider;
  private final Wire wire;
  private final Supplier<String> leaseOfAnother;
  private final AtomicLong successes = new AtomicLong();
  private final AtomicBoolean on = new AtomicBoolean(true);
  private final Map<String, AtomicLong> attacks = new ConcurrentHashMap<>();

  /**
   * Prepares the clients.
   *
   * @param insider may send to and consume from the queue of the normal load
   * @param outsider has queues and a tenant of its own
   * @param leaseOfAnother a lease id that the normal load presents
   */
  HostileClients(Wire insider, Wire outsider, Supplier<String> leaseOfAnother) {
    this.insider = insider;
    this.wire = outsider;
    this.leaseOfAnother = leaseOfAnother;
  }

  /** Returns how often an attack succeeded, which must be never. */
  long successes() {
    return successes.get();
  }

  /** One attack. It may fail, because the server closes the connection. */
  @FunctionalInterface
  interface Attack {
    void run() throws IOException, InterruptedException;
  }

  void stop() {
    on.set(false);
  }

  /** Returns how often each kind of attack was made. */
  Map<String, Long> attacks() {
    var all = new TreeMap<String, Long>();
    attacks.forEach((kind, count) -> all.put(kind, count.get()));
    return all;
  }

  List<Runnable> loops() {
    var list = "{\"a\":[" + "1,".repeat(8 << 20) + "1]}";
    var names = new StringBuilder("{\"n0\":1");
    for (int i = 1; i < 150_000; i++) {
      names.append(",\"n").append(i).append("\":1");
    }
    var flood = names.append('}').toString();
    return List.of(
        loop("uploads that break off", this::breakOff),
        loop("uploads in chunks that break off", this::breakOffInChunks),
        loop("16 MB where no body is taken", () -> flood("GET /health/live", list)),
        loop("16 MB of unknown JSON", () -> flood("POST " + NormalLoad.QUEUE + "/messages", list)),
        loop("16 MB of rounds", () -> flood("POST " + NormalLoad.QUEUE + "/work", list)),
        loop("150,000 unknown names", () -> flood("PUT /queues/none", flood)),
        loop("slow heads", this::slowHead),
        loop("slow readers of large messages", this::readSlowly),
        loop("large messages", this::exchangeLarge),
        loop("broken transfer encodings", this::smuggle),
        loop("requests without end", this::pipeline),
        loop("stolen leases", this::useStolenLease),
        loop("rounds of 1,000 leases", this::roundOfMany),
        loop("slow readers of streams", this::readStreamSlowly),
        loop("tokens and acknowledgements", this::tokensAndAcks),
        loop("bulk acts, keys and audit", this::actsOfOthers),
        loop("logins and preflights", this::logIn));
  }

  private Runnable loop(String kind, Attack attack) {
    var count = attacks.computeIfAbsent(kind, unused -> new AtomicLong());
    return () -> {
      while (on.get()) {
        try {
          attack.run();
        } catch (IOException e) {
          // The server closed the connection, which is allowed.
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          return;
        }
        count.incrementAndGet();
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    };
  }

  private void breakOff() throws IOException {
    int sent = ThreadLocalRandom.current().nextInt(12 << 20);
    try (var socket =
        insider.open(insider.head("POST " + NormalLoad.QUEUE + "/messages", 15 << 20))) {
      socket.setSoLinger(true, 0);
      socket.getOutputStream().write(new byte[sent]);
    }
  }

  private void breakOffInChunks() throws IOException {
    try (var socket = insider.open(insider.chunkedHead("POST " + NormalLoad.QUEUE + "/messages"))) {
      for (int i = 0; i < ThreadLocalRandom.current().nextInt(20); i++) {
        write(socket, "20000\r\n" + " ".repeat(0x20000) + "\r\n");
      }
      write(socket, "20000\r\n" + " ".repeat(100));
    }
  }

  private void flood(String line, String body) throws IOException {
    try (var socket = insider.open(insider.head(line, body.length()))) {
      write(socket, body);
      var unused = socket.getInputStream().read(new byte[4096]);
    }
  }

  private void slowHead() throws IOException {
    try (var socket = wire.open("GET /health/live HTTP/1.1\r\n")) {
      for (int i = 0; i < 50 && on.get(); i++) {
        write(socket, "X-" + i + ": 1\r\n");
        LockSupport.parkNanos(PAUSE_NANOS * 2);
      }
    }
  }

  /** Requests as much as possible over several connections, and reads a few bytes of each. */
  private void readSlowly() throws IOException {
    var sockets = new ArrayList<Socket>();
    try {
      for (int i = 0; i < 6; i++) {
        sockets.add(
            wire.open(wire.head("POST " + LARGE_QUEUE + "/receive", 12) + "{\"max\":1000}"));
      }
      for (int i = 0; i < 40 && on.get(); i++) {
        for (var socket : sockets) {
          // Only available bytes: a queue without messages gives a short answer.
          var unused =
              socket.getInputStream().skip(Math.min(64, socket.getInputStream().available()));
        }
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    } finally {
      for (var socket : sockets) {
        socket.close();
      }
    }
  }

  /** Keeps some messages of 1 MiB in a queue, and completes those it receives. */
  private void exchangeLarge() throws IOException, InterruptedException {
    var depth =
        wire.call("GET", LARGE_QUEUE, "").body().replaceAll("(?s).*\"depth\":(\\d+).*", "$1");
    if (depth.matches("\\d+") && Integer.parseInt(depth) < MOST_LARGE) {
      var body = "x".repeat((1 << 20) - 2);
      wire.call("POST", LARGE_QUEUE + "/messages", "{\"messages\":[{\"body\":\"" + body + "\"}]}");
      return;
    }
    var receipts =
        RECEIPT.matcher(wire.call("POST", LARGE_QUEUE + "/receive", "{\"max\":1000}").body());
    while (receipts.find()) {
      wire.call(
          "POST",
          LARGE_QUEUE + "/settlements",
          "{\"settlements\":[{\"receipt\":\"%s\",\"action\":\"complete\"}]}"
              .formatted(receipts.group(1)));
    }
  }

  private void smuggle() throws IOException {
    try (var socket =
        wire.open(
            "POST /queues/none/leases HTTP/1.1\r\n"
                + "Host: 127.0.0.1\r\n"
                + "Transfer-Encoding: xchunked\r\n\r\n"
                + "GET /metrics HTTP/1.1\r\n"
                + "Host: 127.0.0.1\r\n\r\n")) {
      var unused = socket.getInputStream().read(new byte[4096]);
    }
  }

  /** Sends far more requests than one connection may have, and reads no answer. */
  private void pipeline() throws IOException {
    var many = wire.request("GET /health/live").repeat(200);
    try (var socket = wire.open(many)) {
      for (int i = 0; i < 100 && on.get(); i++) {
        write(socket, many);
      }
    }
  }

  private void useStolenLease() throws IOException, InterruptedException {
    var lease = leaseOfAnother.get();
    if (lease.isEmpty()) {
      return;
    }
    var round =
        "{\"requestId\":\"%s\",\"renew\":[\"%s\"],\"settle\":[{\"leaseId\":\"%s\",\"then\":\"release\"}]}"
            .formatted(ThreadLocalRandom.current().nextLong(), lease, lease);
    var answer = insider.call("POST", NormalLoad.QUEUE + "/work", round).body();
    if (answer.contains("\"outcome\":\"settled\"") || answer.contains("\"held\":true")) {
      successes.incrementAndGet();
    }
    var held = NormalLoad.QUEUE + "/leases/" + lease;
    expectRefusal(insider.call("GET", held + "/messages", ""));
    expectRefusal(insider.call("DELETE", held, ""));
  }

  private void roundOfMany() throws IOException, InterruptedException {
    var ids = new StringBuilder("\"x\"");
    for (int i = 1; i < 1_000; i++) {
      ids.append(",\"").append("y".repeat(900)).append(i).append('"');
    }
    wire.call(
        "POST",
        LARGE_QUEUE.replace("large", "evil") + "/work",
        "{\"requestId\":\"%d\",\"renew\":[%s],\"take\":{\"sessions\":256,\"messages\":1000}}"
            .formatted(ThreadLocalRandom.current().nextLong(), ids));
  }

  /** Follows a stream of large events over several connections, and reads a few bytes of each. */
  private void readStreamSlowly() throws IOException, InterruptedException {
    for (int i = 0; i < 5; i++) {
      wire.call("POST", STREAM + "/events", "{\"data\":\"" + "z".repeat(200_000) + "\"}");
    }
    var sockets = new ArrayList<Socket>();
    try {
      for (int i = 0; i < 20; i++) {
        var accept = i % 2 == 0 ? "Accept: text/event-stream" : "Accept: application/json";
        sockets.add(wire.open(wire.request("GET " + STREAM + "/events?lastEventId=0", accept)));
      }
      for (int i = 0; i < 40 && on.get(); i++) {
        for (var socket : sockets) {
          var unused =
              socket.getInputStream().skip(Math.min(64, socket.getInputStream().available()));
        }
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    } finally {
      for (var socket : sockets) {
        socket.close();
      }
    }
  }

  private void tokensAndAcks() throws IOException, InterruptedException {
    wire.call("POST", STREAM + "/tokens", "{\"ttl\":\"PT1H\"}");
    var subscriber = "/subscribers/s" + ThreadLocalRandom.current().nextInt(5_000);
    wire.call("PUT", STREAM + subscriber, "{}");
    wire.call("POST", STREAM + subscriber + "/ack", "{\"lastEventId\":\"1\"}");
    expectRefusal(wire.call("POST", NormalLoad.STREAM + "/tokens", "{}"));
    expectRefusal(
        wire.call("POST", NormalLoad.STREAM + subscriber + "/ack", "{\"lastEventId\":\"1\"}"));
    expectRefusal(
        wire.call("GET", NormalLoad.STREAM + "/events?token=st_AAAAAAAAAAAAAAAAAAAAAAAA", ""));
  }

  private void actsOfOthers() throws IOException, InterruptedException {
    expectRefusal(
        wire.call("POST", NormalLoad.QUEUE + "/bulk", "{\"act\":\"pause\",\"dryRun\":true}"));
    wire.call("POST", LARGE_QUEUE + "/bulk", "{\"act\":\"discard\",\"dryRun\":true}");
    expectRefusal(wire.call("POST", "/keys", "{\"name\":\"mine\",\"roles\":[\"admin\"]}"));
    expectRefusal(wire.call("GET", "/keys", ""));
    expectRefusal(wire.call("GET", "/audit", ""));
    expectRefusal(wire.call("GET", "/audit/export", ""));
    expectRefusal(wire.call("GET", NormalLoad.QUEUE + "/scale", ""));
    expectRefusal(wire.call("DELETE", NormalLoad.QUEUE + "?confirm=normal", ""));
    wire.call("GET", "/queues/evil/scale?slots=1", "");
  }

  private void logIn() throws IOException {
    var form = "next=/&key=" + ThreadLocalRandom.current().nextLong();
    var head =
        wire.head("POST /ui/login", form.length())
            .replace(
                "application/json",
                "application/x-www-form-urlencoded\r\nSec-Fetch-Site: same-origin");
    try (var socket = wire.open(head + form)) {
      var unused = socket.getInputStream().read(new byte[4096]);
    }
    try (var socket =
        wire.open(
            wire.request(
                "OPTIONS /queues",
                "Origin: https://app.example",
                "Access-Control-Request-Method: GET",
                "Content-Length: 1000000"))) {
      write(socket, "x".repeat(500_000));
    }
  }

  private void expectRefusal(Wire.Answer answer) {
    if (answer.status() < 400) {
      successes.incrementAndGet();
    }
  }

  private static void write(Socket socket, String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
  }
}
