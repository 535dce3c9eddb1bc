package dev.sessionkeeper.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import dev.sessionkeeper.time.TimeSource;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HttpServerTest {
  private static final Scope SERVER = Scope.server("Tests");

  record Greeting(String name, long times) {
    static Greeting read(Fields in) {
      var name = in.required("name", Decode.text(20));
      var times = in.optional("times", 1L, Decode.integer(1L, 10L));
      in.check();
      return new Greeting(name.get(), times.get());
    }
  }

  private final CountDownLatch waiting = new CountDownLatch(1);
  private final CountDownLatch ended = new CountDownLatch(1);
  private final CountDownLatch givenBack = new CountDownLatch(1);
  private final CountDownLatch mayAnswer = new CountDownLatch(1);
  private HttpServer server;

  @BeforeEach
  void start() throws IOException {
    var routes =
        List.of(
            Route.get(
                    "/things/{id}",
                    Role.READ,
                    SERVER,
                    r -> Response.ok(Map.of("id", r.parameter("id"))))
                .query("colour", "Which"),
            Route.get("/forgot", Role.READ, Scope.tenant(), r -> Response.ok(Map.of("rows", 7))),
            Route.get(
                "/asked",
                Role.READ,
                Scope.tenant(),
                r -> Response.ok(Map.of("rows", r.reach().tenants().toString()))),
            Route.get("/things/all", Role.READ, SERVER, r -> Response.ok(Map.of("id", "literal"))),
            Route.post("/greet", Role.READ, SERVER, r -> Response.created(r.json(Greeting::read)))
                .takes(Greeting.class),
            Route.put("/small", Role.READ, SERVER, r -> Response.noContent())
                .takes("application/octet-stream")
                .maxBody(1000),
            Route.get(
                "/boom",
                Role.READ,
                SERVER,
                r -> {
                  throw new IllegalStateException("secret inside");
                }),
            Route.get("/wait", Role.READ, SERVER, this::waitForEver),
            Route.get("/late", Role.READ, SERVER, this::answerLate),
            Route.get(
                "/stream",
                Role.READ,
                SERVER,
                r -> Response.stream("text/event-stream", this::writeUntilGone)));
    server =
        HttpServer.start(
            HttpOptions.of("127.0.0.1", 0),
            new RouteTable(routes),
            Gate.open(),
            RequestListener.none(),
            TimeSource.system());
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private Response waitForEver(Request request) throws Exception {
    try {
      var found =
          request.await(
              () -> {
                waiting.countDown();
                return new CountDownLatch(1).await(60, TimeUnit.SECONDS);
              });
      return found.isPresent() ? Response.ok(Map.of()) : Response.noContent();
    } finally {
      ended.countDown();
    }
  }

  private Response answerLate(Request request) throws Exception {
    waiting.countDown();
    mayAnswer.await();
    return Response.ok(Map.of("lease", 1)).ifUndelivered(givenBack::countDown);
  }

  private void writeUntilGone(ResponseStream out) throws Exception {
    try {
      while (out.write("data: x\n\n".getBytes(StandardCharsets.UTF_8), Duration.ofSeconds(10))) {
        waiting.countDown();
      }
    } finally {
      ended.countDown();
    }
  }

  @Test
  void aHandlerThatForgetsTheReachOfItsCallerIsNotAnswered() throws Exception {
    assertThat(get("/asked").status()).isEqualTo(200);
    var forgot = get("/forgot");
    assertThat(forgot.status()).isEqualTo(500);
    assertThat(forgot.body()).doesNotContain("rows");
  }

  @Test
  void aRouteIsPublicInBothRoleAndScopeOrInNeither() {
    Handler handler = request -> Response.noContent();
    assertThatThrownBy(() -> Route.get("/a", Role.ANYONE, SERVER, handler))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Route.get("/a", Role.READ, Scope.open(), handler))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Route.get("/a", Role.READ, Scope.queue(), handler))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aParameterIsDecodedAndALiteralSegmentGoesFirst() throws Exception {
    assertThat(get("/things/a%20b").body()).isEqualTo("{\"id\":\"a b\"}");
    assertThat(get("/things/all").body()).isEqualTo("{\"id\":\"literal\"}");
  }

  @ParameterizedTest
  @CsvSource({
    "/nothing,404,not-found",
    "/things/,404,not-found",
    "/things//x,404,not-found",
    "/things/%2e%2e,400,invalid-path",
    "/things/a%2Fb,400,invalid-path",
    "/things/a%5Cb,400,invalid-path",
    "/things/%00,400,invalid-path",
    "/things/%zz,400,invalid-path",
    "/things/%F0%28%8C%28,400,invalid-path",
    "/things/x?size=1,400,invalid-request",
    "/things/x?colour=1&colour=2,400,invalid-request",
    "/things/x?colour=%00,400,invalid-request",
    "/greet,405,method-not-allowed",
  })
  void anOddTargetIsRefusedWithAProblem(String target, int status, String type) throws Exception {
    var reply = get(target);
    assertThat(reply.status()).isEqualTo(status);
    assertThat(reply.header("content-type")).isEqualTo("application/problem+json");
    assertThat(reply.body()).contains("/problems/" + type + "\"");
  }

  @Test
  void aMethodThatIsNotServedNamesThoseThatAre() throws Exception {
    assertThat(get("/greet").header("allow")).isEqualTo("POST");
  }

  @Test
  void everyBadFieldIsNamedAtOnce() throws Exception {
    var reply = post("/greet", "{\"name\":5,\"times\":\"2\",\"surprise\":1}");
    assertThat(reply.status()).isEqualTo(400);
    assertThat(reply.body())
        .contains("{\"field\":\"name\",\"reason\":\"must be text, was a number\"}")
        .contains("{\"field\":\"times\",\"reason\":\"must be a whole number, was text\"}")
        .contains("{\"field\":\"surprise\",\"reason\":\"is not known here\"}");
  }

  @Test
  void aFloodOfUnknownNamesIsNotListedBack() throws Exception {
    var names = new StringBuilder("{\"name\":\"a\"");
    for (int i = 0; i < 900; i++) {
      names.append(",\"").append("x".repeat(300)).append(i).append("\":1");
    }
    var reply = post("/greet", names + "}");
    assertThat(reply.status()).isEqualTo(400);
    assertThat(reply.body()).hasSizeLessThan(5000).contains("errors found", "are not listed");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{",
        "[]",
        "5",
        "{\"name\":\"a\"}x",
        "{\"name\":\"a\",\"name\":\"b\"}",
        "{\"name\":\"\\ud800\"}",
        "{\"name\":\"a\\u0000\"}",
        "{\"name\":\"a\",\"times\":1.5}",
        "{\"name\":\"a\",\"times\":1e999999999}",
        "{\"name\":\"a\",\"times\":100000000000000000000}",
        "{\"name\":null}",
        "{\"name\":\"a\",\"times\":true}"
      })
  void aBadDocumentIsRefused(String document) throws Exception {
    assertThat(post("/greet", document).status()).isEqualTo(400);
  }

  @Test
  void aDeepDocumentIsRefused() throws Exception {
    assertThat(post("/greet", "[".repeat(100_000)).status()).isEqualTo(400);
  }

  @Test
  void anotherMediaTypeIsRefused() throws Exception {
    assertThat(send("POST", "/greet", "{}", "Content-Type: text/plain").status()).isEqualTo(415);
    assertThat(
            send("POST", "/greet", "{}", "Content-Type: application/json; charset=klingon")
                .status())
        .isEqualTo(415);
    assertThat(
            send("POST", "/greet", "x", "Content-Type: application/json", "Content-Encoding: gzip")
                .status())
        .isEqualTo(415);
  }

  @Test
  void aBodyOverTheLimitIsAnsweredAlthoughTheClientSendsAllOfIt() throws Exception {
    assertThat(send("PUT", "/small", "x".repeat(1000)).status()).isEqualTo(204);
    var reply = send("PUT", "/small", "x".repeat(5_000_000));
    assertThat(reply.status()).isEqualTo(413);
    assertThat(reply.body()).contains("\"allowed\":1000");
  }

  @Test
  void aFailureShowsNothingOfTheInside() throws Exception {
    var reply = get("/boom");
    assertThat(reply.status()).isEqualTo(500);
    assertThat(reply.body()).contains("correlationId").doesNotContain("secret", "Exception");
  }

  @Test
  void brokenHttpIsRefusedAndTheConnectionClosed() throws Exception {
    for (var broken :
        List.of(
            "GET / HTTP/1.1\r\nHost: x\r\nX: \u0000\r\n\r\n",
            "GET /" + "x".repeat(200_000) + " HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\nX: " + "x".repeat(200_000) + "\r\n\r\n",
            "POST /greet HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
            "POST /greet HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                + "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
            "GET /things/x HTTP/1.1\r\nConnection: close\r\n\r\n")) {
      assertThat(raw(broken)).as(broken.substring(0, 20)).matches("(?s)(HTTP/1.[01] 4.*)?");
    }
  }

  @Test
  void aWaitEndsWhenTheClientHangsUp() throws Exception {
    hangUpWhileServed("/wait");
    assertThat(ended.await(10, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void whatTheClientCannotHearOfIsGivenBack() throws Exception {
    hangUpWhileServed("/late");
    await().until(this::isGone);
    mayAnswer.countDown();
    assertThat(givenBack.await(10, TimeUnit.SECONDS)).isTrue();
  }

  private boolean isGone() throws Exception {
    return get("/things/x").status() == 200;
  }

  @Test
  void aStreamEndsWhenItsReaderHangsUpAndNeverRunsAheadOfIt() throws Exception {
    hangUpWhileServed("/stream");
    assertThat(ended.await(10, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void drainingEndsWaitsWithAnAnswerAndRefusesWhatComesLater() throws Exception {
    try (var socket = open("/wait")) {
      assertThat(waiting.await(10, TimeUnit.SECONDS)).isTrue();
      assertThat(server.drain(Duration.ofSeconds(10))).isZero();
      assertThat(readAll(socket))
          .startsWith("HTTP/1.1 204")
          .containsIgnoringCase("connection: close");
      assertThat(get("/things/x").status()).isEqualTo(503);
    }
  }

  private void hangUpWhileServed(String path) throws Exception {
    var socket = open(path);
    assertThat(waiting.await(10, TimeUnit.SECONDS)).isTrue();
    socket.close();
  }

  private Socket open(String path) throws IOException {
    var socket = new Socket("127.0.0.1", server.port());
    socket
        .getOutputStream()
        .write(("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n").getBytes(StandardCharsets.UTF_8));
    return socket;
  }

  private Reply get(String path) throws IOException {
    return send("GET", path, "");
  }

  private Reply post(String path, String json) throws IOException {
    return send("POST", path, json, "Content-Type: application/json");
  }

  private Reply send(String method, String path, String body, String... headers)
      throws IOException {
    var head =
        new StringBuilder(method + " " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n");
    List.of(headers).forEach(header -> head.append(header).append("\r\n"));
    if (!body.isEmpty()) {
      head.append("Content-Length: ").append(body.getBytes(StandardCharsets.UTF_8).length);
      head.append("\r\n");
    }
    return Reply.of(raw(head + "\r\n" + body));
  }

  private String raw(String request) throws IOException {
    try (var socket = new Socket("127.0.0.1", server.port())) {
      socket.setSoTimeout(20_000);
      try {
        socket.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
      } catch (IOException e) {
        // The server refused before the end of the upload; the answer may be there.
      }
      return readAll(socket);
    }
  }

  private static String readAll(Socket socket) {
    try {
      socket.setSoTimeout(20_000);
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    } catch (java.net.SocketTimeoutException e) {
      throw new AssertionError("no answer in 20 s", e);
    } catch (IOException e) {
      return "";
    }
  }

  record Reply(int status, String head, String body) {
    static Reply of(String raw) {
      int gap = raw.indexOf("\r\n\r\n");
      assertThat(gap).as("an answer, got: %s", raw).isPositive();
      return new Reply(
          Integer.parseInt(raw.substring(9, 12)), raw.substring(0, gap), raw.substring(gap + 4));
    }

    String header(String name) {
      return head.lines()
          .filter(line -> line.toLowerCase(java.util.Locale.ROOT).startsWith(name + ": "))
          .map(line -> line.substring(name.length() + 2))
          .findFirst()
          .orElse("");
    }
  }
}
