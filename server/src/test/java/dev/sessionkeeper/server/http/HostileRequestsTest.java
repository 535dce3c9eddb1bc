package dev.sessionkeeper.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import dev.sessionkeeper.time.TimeSource;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that no friendly client sends, byte by byte over sockets. */
class HostileRequestsTest {
  private static final int LARGE = 24 << 20;
  private static final int BUDGET = 32 << 20;

  record Note(String text) {
    static Note read(Fields in) {
      var text = in.required("text", Decode.text());
      in.check();
      return new Note(text.get());
    }
  }

  private final AtomicInteger served = new AtomicInteger();
  private HttpServer server;

  @BeforeEach
  void start() throws IOException {
    var routes =
        List.of(
            Route.get("/alive", Role.ANYONE, Scope.open(), r -> count(Response.ok(Map.of()))),
            Route.get(
                "/large",
                Role.ANYONE,
                Scope.open(),
                r -> Response.bytes(200, "application/octet-stream", new byte[LARGE])),
            Route.post(
                "/renew", Role.READ, Scope.server("Tests are"), r -> count(Response.ok(Map.of()))),
            Route.post(
                    "/notes",
                    Role.READ,
                    Scope.server("Tests are"),
                    r -> count(Response.created(r.json(Note::read))))
                .takes(Note.class),
            Route.put(
                    "/bytes",
                    Role.READ,
                    Scope.server("Tests are"),
                    r -> count(Response.noContent()))
                .takes("application/octet-stream"),
            Route.put(
                    "/boom",
                    Role.READ,
                    Scope.server("Tests are"),
                    r -> {
                      throw new IllegalStateException("planted");
                    })
                .takes("application/octet-stream"));
    server =
        HttpServer.start(
            HttpOptions.of("127.0.0.1", 0)
                .withBufferedBytes(BUDGET)
                .withRequestTimeout(Duration.ofSeconds(6))
                .withIdle(Duration.ofSeconds(3))
                .withOrigins(() -> Set.of("https://app.example")),
            new RouteTable(routes),
            Gate.open(),
            RequestListener.none(),
            TimeSource.system());
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private Response count(Response response) {
    served.incrementAndGet();
    return response;
  }

  @ParameterizedTest
  @ValueSource(strings = {"GET /alive", "POST /renew"})
  void aBodyThatTheRouteDoesNotTakeIsRefusedBeforeItArrives(String line) throws Exception {
    try (var socket = open(head(line, "Content-Length: 16777216"))) {
      var answer = readAll(socket);
      assertThat(answer).startsWith("HTTP/1.1 413").contains("/problems/too-large\"");
      assertThat(answer).containsIgnoringCase("connection: close");
    }
    try (var socket =
        open(head(line, "Transfer-Encoding: chunked") + "ffff\r\n" + "x".repeat(65535))) {
      assertThat(readAll(socket)).startsWith("HTTP/1.1 413");
    }
    assertThat(served).hasValue(0);
  }

  @Test
  void aRouteWithoutBodyIsContentWithAnEmptyObject() throws Exception {
    assertThat(
            raw(head("POST /renew", "Content-Type: application/json", "Content-Length: 2") + "{}"))
        .startsWith("HTTP/1.1 200");
    assertThat(
            raw(
                head("POST /renew", "Content-Type: application/json", "Content-Length: 7")
                    + "{\"a\":1}"))
        .startsWith("HTTP/1.1 400");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "xchunked",
        "gzip",
        "identity",
        "chunked, gzip",
        "gzip, chunked",
        "chunked\r\nTransfer-Encoding: chunked",
        "\"chunked\""
      })
  void aTransferEncodingOtherThanChunkedEndsTheConnection(String encoding) throws Exception {
    var smuggled = "GET /alive HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    var answer =
        raw(
            "POST /renew HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
                + encoding
                + "\r\n\r\n"
                + smuggled);
    // If the encoding ends with chunked, the bytes after the head are no valid chunk either.
    assertThat(answer).matches("(?s)(HTTP/1.1 400.*)?");
    assertThat(answer.split("HTTP/1.1 ", -1)).as(answer).hasSizeLessThanOrEqualTo(2);
    assertThat(served).hasValue(0);
  }

  @Test
  void aLengthBesideATransferEncodingIsRefused() throws Exception {
    assertThat(
            raw(
                "PUT /bytes HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n"
                    + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"))
        .matches("(?s)(HTTP/1.[01] 4.*)?");
    assertThat(served).hasValue(0);
  }

  @Test
  void aRequestNamesOneHost() throws Exception {
    var answer = raw("GET /alive HTTP/1.1\r\nHost: x\r\nHost: y\r\nConnection: close\r\n\r\n");
    assertThat(answer).startsWith("HTTP/1.1 400").contains("/problems/malformed-http\"");
    assertThat(served).hasValue(0);
  }

  @Test
  void uploadsThatBreakOffDoNotBlockTheNextOnes() throws Exception {
    int most = 15 << 20;
    var breaks =
        List.of(
            "PUT /bytes HTTP/1.1\r\nHo",
            head("PUT /bytes", "Content-Length: " + most),
            head("PUT /bytes", "Content-Length: " + most) + "x".repeat(most / 2),
            head("PUT /bytes", "Content-Length: " + most) + "x".repeat(most - 1),
            head("PUT /bytes", "Content-Length: " + most) + "x".repeat(most),
            head("PUT /boom", "Content-Length: " + most) + "x".repeat(most),
            head("PUT /bytes", "Transfer-Encoding: chunked") + "ffff\r\n" + "x".repeat(40000),
            head("PUT /bytes", "Transfer-Encoding: chunked") + "5\r\nxxxxx\r\n5",
            head("PUT /bytes", "Transfer-Encoding: chunked") + "5\r\nxxxxx\r\nzz\r\n",
            head("GET /alive", "Content-Length: " + most) + "x".repeat(most / 2),
            head("PUT /none", "Content-Length: " + most) + "x".repeat(most / 2));
    for (int round = 0; round < 6; round++) {
      for (var start : breaks) {
        var socket = new Socket("127.0.0.1", server.port());
        if (round % 2 == 0) {
          socket.setSoLinger(true, 0);
        }
        try (socket) {
          socket.getOutputStream().write(start.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
          // The server refused the rest and closed the connection, which ends the upload too.
        }
      }
    }
    var whole = head("PUT /bytes", "Content-Length: " + most) + "x".repeat(most);
    await()
        .atMost(Duration.ofSeconds(20))
        .untilAsserted(() -> assertThat(raw(whole)).startsWith("HTTP/1.1 204"));
    await().atMost(Duration.ofSeconds(20)).until(() -> server.bufferedBytes() == 0);
    await().atMost(Duration.ofSeconds(20)).until(() -> server.running() == 0);
  }

  @Test
  void aClientThatDoesNotTakeItsAnswerLosesIt() throws Exception {
    try (var socket = new Socket()) {
      socket.setReceiveBufferSize(4096);
      socket.connect(new java.net.InetSocketAddress("127.0.0.1", server.port()));
      socket.getOutputStream().write(head("GET /large").getBytes(StandardCharsets.UTF_8));
      await().atMost(Duration.ofSeconds(10)).until(() -> server.bufferedBytes() == LARGE);
      assertThat(raw(head("GET /large"))).as("a second one").startsWith("HTTP/1.1 503");
      assertThat(raw(head("GET /alive"))).startsWith("HTTP/1.1 200");
      await().atMost(Duration.ofSeconds(20)).until(() -> server.bufferedBytes() == 0);
    }
    await().atMost(Duration.ofSeconds(10)).until(() -> server.running() == 0);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: chunked",
        "Content-Length: 100",
        "Host: y"
      })
  void aPreflightIsNoWayPastTheChecksOfTheHead(String header) throws Exception {
    var preflight =
        "OPTIONS /alive HTTP/1.1\r\nHost: x\r\nOrigin: https://app.example\r\n"
            + "Access-Control-Request-Method: GET\r\n";
    assertThat(raw(preflight + "Connection: close\r\n\r\n")).startsWith("HTTP/1.1 204");
    var smuggled = "GET /alive HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    // If the next bytes are no chunk, or the body never comes, there is no answer at all.
    assertThat(raw(preflight + header + "\r\n\r\n" + smuggled)).matches("(?s)(HTTP/1.1 4.*)?");
    assertThat(served).hasValue(0);
  }

  @Test
  void requestsThatComeTogetherAreAnsweredInTheirOrder() throws Exception {
    var request = "GET /%s HTTP/1.1\r\nHost: x\r\n\r\n";
    var answers =
        raw(
            (request.formatted("alive") + request.formatted("none")).repeat(20)
                + head("GET /alive"));
    var statuses =
        answers
            .lines()
            .flatMap(
                line -> java.util.regex.Pattern.compile("HTTP/1.1 (\\d+)").matcher(line).results())
            .map(found -> found.group(1))
            .toList();
    assertThat(statuses).hasSize(41).startsWith("200", "404", "200", "404").endsWith("404", "200");
  }

  @ParameterizedTest
  @ValueSource(strings = {"GET /alive", "GET /none", "POST /renew", "GET /large"})
  void aConnectionThatSendsRequestsWithoutEndIsClosed(String line) throws Exception {
    var request = (line + " HTTP/1.1\r\nHost: x\r\n\r\n").repeat(1_000);
    try (var socket = new Socket()) {
      socket.setReceiveBufferSize(4096);
      socket.connect(new java.net.InetSocketAddress("127.0.0.1", server.port()));
      var sending =
          Thread.ofVirtual()
              .start(
                  () -> {
                    try {
                      while (true) {
                        socket.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
                      }
                    } catch (IOException e) {
                      // The connection ended as expected.
                    }
                  });
      assertThat(sending.join(Duration.ofSeconds(15))).as("it is closed").isTrue();
    }
    assertThat(raw(head("GET /alive"))).startsWith("HTTP/1.1 200");
    await().atMost(Duration.ofSeconds(20)).until(() -> server.bufferedBytes() == 0);
    await().atMost(Duration.ofSeconds(10)).until(() -> server.running() == 0);
  }

  @Test
  void aHeadThatHasNoEndIsCutHoweverManyBytesCome() throws Exception {
    try (var socket = open("GET /alive HTTP/1.1\r\nHost: x\r\n")) {
      await()
          .atMost(Duration.ofSeconds(10))
          .pollInterval(Duration.ofMillis(200))
          .until(() -> isCut(socket, "X-More: 1\r\n"));
    }
  }

  private static boolean isCut(Socket socket, String more) {
    try {
      socket.getOutputStream().write(more.getBytes(StandardCharsets.UTF_8));
      return false;
    } catch (IOException e) {
      return true;
    }
  }

  /** Each chunk arrives as an object of its own, which is much larger than one byte. */
  @Test
  void aBodyInTinyChunksTakesLittleMoreMemoryThanItsBytes() throws Exception {
    int chunks = 120_000;
    var body = "1\r\nx\r\n".repeat(chunks).getBytes(StandardCharsets.US_ASCII);
    var sockets = new ArrayList<Socket>();
    try {
      long before = heapInUse();
      for (int i = 0; i < 6; i++) {
        var socket = open(head("PUT /bytes", "Transfer-Encoding: chunked"));
        sockets.add(socket);
        socket.getOutputStream().write(body);
      }
      await().until(() -> server.bufferedBytes() == 6L * chunks);
      assertThat(heapInUse() - before).isLessThan(30L << 20);
      assertThat(server.bufferedBytes()).as("still held").isEqualTo(6L * chunks);
    } finally {
      for (var socket : sockets) {
        socket.close();
      }
    }
  }

  private static long heapInUse() {
    System.gc();
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  @Test
  void aServerThatClosesGivesEverythingBack() throws Exception {
    var upload = head("PUT /bytes", "Content-Length: 500000") + "x".repeat(400_000);
    try (var first = open(upload)) {
      await().atMost(Duration.ofSeconds(10)).until(() -> server.bufferedBytes() == 400_000);
      server.close();
      await().atMost(Duration.ofSeconds(10)).until(() -> server.bufferedBytes() == 0);
      assertThat(first.isClosed()).isFalse();
    }
  }

  private static String head(String line, String... headers) {
    var head = new StringBuilder(line + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n");
    List.of(headers).forEach(header -> head.append(header).append("\r\n"));
    return head + "\r\n";
  }

  private Socket open(String request) throws IOException {
    var socket = new Socket("127.0.0.1", server.port());
    socket.setSoTimeout(5_000);
    socket.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
    return socket;
  }

  private String raw(String request) throws IOException {
    try (var socket = open(request)) {
      return readAll(socket);
    }
  }

  private static String readAll(Socket socket) throws IOException {
    var read = new java.io.ByteArrayOutputStream();
    try {
      socket.getInputStream().transferTo(read);
    } catch (java.net.SocketTimeoutException e) {
      throw new AssertionError("no end of the answer in 5 s: " + read, e);
    } catch (java.net.SocketException e) {
      // The connection was reset after the answer.
    }
    return read.toString(StandardCharsets.UTF_8);
  }
}
