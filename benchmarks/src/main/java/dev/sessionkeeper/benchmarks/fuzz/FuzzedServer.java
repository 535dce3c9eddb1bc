package dev.sessionkeeper.benchmarks.fuzz;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.sessionkeeper.server.KeeperServer;
import dev.sessionkeeper.server.ReadConfig;
import dev.sessionkeeper.server.config.ConfigSources;
import dev.sessionkeeper.time.TimeSource;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** A server in this process, with everything in memory. An answer of 5xx is a finding. */
final class FuzzedServer {
  /** The longest wait for an answer; the waits of the server itself are shorter. */
  private static final int PATIENCE_MILLIS = 70_000;

  /** After this silence, the server waits for more bytes, or has sent its whole answer. */
  private static final int QUIET_MILLIS = 40;

  private static final Pattern STATUS = Pattern.compile("HTTP/1\\.1 (\\d{3}) ");
  private static final Pattern DEPTH = Pattern.compile("\"depth\"\\s*:\\s*(\\d+)");
  private static final List<String> BODIES =
      List.of(
          "POST /queues/fuzz/messages",
          "PUT /queues/other",
          "POST /queues/fuzz/leases",
          "POST /queues/fuzz/work",
          "PUT /sessions",
          "POST /streams/news/events",
          "POST /queues/fuzz/dead-letters/replay");
  private static final List<String> WITH_ID =
      List.of(
          "POST /queues/fuzz/leases/%s/renew",
          "DELETE /queues/fuzz/leases/%s",
          "GET /queues/fuzz/sessions?cursor=%s",
          "GET /queues/fuzz/dead-letters?cursor=%s",
          "GET /queues/%s",
          "GET /queues/fuzz/sessions/%s",
          "GET /streams/news/events?after=%s",
          "GET /audit?cursor=%s");

  private static final class Holder {
    private static final FuzzedServer SHARED = new FuzzedServer();

    private Holder() {}
  }

  private final int port;
  private int answers;

  private FuzzedServer() {
    var sources =
        new ConfigSources(
            "keeper.yaml",
            "server: { port: 0 }\nstore: { url: memory }\n",
            Path.of("").toAbsolutePath(),
            Map.of(),
            Map.of());
    // It lasts as long as this process.
    var server = KeeperServer.start(ReadConfig.from(sources), () -> sources, TimeSource.system());
    this.port = URI.create(server.address()).getPort();
    try {
      require2xx(call("PUT /queues/fuzz", "{\"mode\":\"ORDERED\"}".getBytes(UTF_8)));
    } catch (IOException e) {
      throw new IllegalStateException("The server does not answer", e);
    }
  }

  static FuzzedServer shared() {
    return Holder.SHARED;
  }

  private static void require2xx(String answer) {
    if (!answer.startsWith("HTTP/1.1 2")) {
      throw new IllegalStateException("The server answered " + answer);
    }
  }

  /** Sends these bytes and nothing else. */
  void refuseServerErrors(byte[] request) throws IOException {
    send(request, QUIET_MILLIS);
  }

  void postJson(byte route, byte[] body) throws IOException {
    var line = BODIES.get(Math.floorMod(route, BODIES.size()));
    boolean stores = line.equals(BODIES.get(0));
    var before = stores ? depth() : "";
    int status = statusOf(call(line, body));
    if (stores && status / 100 == 4 && !depth().equals(before)) {
      throw new IllegalStateException("A refused request stored messages: " + status);
    }
  }

  void callWithId(byte route, byte[] id) throws IOException {
    var text = new StringBuilder();
    for (byte each : id) {
      text.append(String.format("%%%02X", each));
    }
    var line = String.format(WITH_ID.get(Math.floorMod(route, WITH_ID.size())), text);
    send(request(line, new byte[0]), line.contains("/events?") ? QUIET_MILLIS : PATIENCE_MILLIS);
  }

  private String depth() throws IOException {
    var found = DEPTH.matcher(call("GET /queues/fuzz", new byte[0]));
    return found.find() ? found.group(1) : "none";
  }

  private String call(String line, byte[] body) throws IOException {
    return send(request(line, body), PATIENCE_MILLIS);
  }

  private static byte[] request(String line, byte[] body) throws IOException {
    var request = new ByteArrayOutputStream();
    var head =
        line
            + " HTTP/1.1\r\n"
            + "Host: localhost\r\n"
            + "Content-Type: application/json\r\n"
            + "Connection: close\r\n"
            + "Content-Length: "
            + body.length
            + "\r\n\r\n";
    request.write(head.getBytes(ISO_8859_1));
    request.write(body);
    return request.toByteArray();
  }

  /**
   * Returns the answer; empty if the server closed the connection without one.
   *
   * @param silence the time after which this side ends its half of the connection; the server then
   *     answers no more
   */
  private String send(byte[] request, int silence) throws IOException {
    var answer = new ByteArrayOutputStream();
    try (var socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.getOutputStream().write(request);
      socket.getOutputStream().flush();
      socket.setSoTimeout(silence);
      if (!readToEnd(socket.getInputStream(), answer)) {
        socket.shutdownOutput();
        socket.setSoTimeout(PATIENCE_MILLIS);
        if (!readToEnd(socket.getInputStream(), answer)) {
          throw new IllegalStateException("The server neither answered nor closed the connection");
        }
      }
    } catch (SocketException e) {
      // Closed before all of the request was read: that is a refusal as well.
    }
    var text = answer.toString(UTF_8);
    answers += statusOf(text) == 0 ? 0 : 1;
    refuseServerError(text);
    return text;
  }

  /** Throws if this is an answer of 5xx other than 503. */
  static void refuseServerError(String answer) {
    int status = statusOf(answer);
    if (status / 100 == 5 && status != 503) {
      throw new IllegalStateException("The server answered " + answer);
    }
  }

  /** Returns how many requests got an answer. */
  int answers() {
    return answers;
  }

  /** Reads until the server closes the connection. Returns false if the server is silent before. */
  private static boolean readToEnd(InputStream in, ByteArrayOutputStream answer)
      throws IOException {
    try {
      in.transferTo(answer);
      return true;
    } catch (SocketTimeoutException e) {
      return false;
    }
  }

  private static int statusOf(String answer) {
    var found = STATUS.matcher(answer);
    return found.lookingAt() ? Integer.parseInt(found.group(1)) : 0;
  }
}
