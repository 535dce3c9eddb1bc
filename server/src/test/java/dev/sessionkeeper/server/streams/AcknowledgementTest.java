package dev.sessionkeeper.server.streams;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.server.TestServer;
import dev.sessionkeeper.store.Database;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The position of an acknowledging subscriber moves by acknowledgements, and never by a read. */
class AcknowledgementTest {
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static StreamServer memory;
  private static StreamServer postgres;

  @BeforeAll
  static void start() throws Exception {
    memory = StreamServer.inMemory(StreamsConfig.ofDefaults());
    postgres =
        StreamServer.in(Database.of(TestDatabase.create().source()), StreamsConfig.ofDefaults(), 0);
  }

  @AfterAll
  static void stop() {
    memory.close();
    postgres.close();
  }

  /** The stores in which the server of a test keeps its streams. */
  enum Store {
    MEMORY,
    POSTGRES;

    StreamServer server() {
      return this == MEMORY ? memory : postgres;
    }
  }

  private record Reply(int status, String body) {
    JsonNode json() {
      return JsonMapper.shared().readTree(body);
    }
  }

  private static Reply call(
      StreamServer server, String method, String path, Optional<String> json, String... headers)
      throws Exception {
    var request =
        HttpRequest.newBuilder(URI.create(server.address() + path))
            .timeout(Duration.ofSeconds(30))
            .method(
                method,
                json.map(HttpRequest.BodyPublishers::ofString)
                    .orElse(HttpRequest.BodyPublishers.noBody()));
    json.ifPresent(text -> request.header("Content-Type", "application/json"));
    if (headers.length > 0) {
      request.headers(headers);
    }
    var response = HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
    return new Reply(response.statusCode(), response.body());
  }

  private static JsonNode subscribe(StreamServer server, String stream, String from)
      throws Exception {
    var reply =
        call(
            server,
            "PUT",
            "/streams/" + stream + "/subscribers/ann",
            Optional.of("{\"from\":\"" + from + "\"}"));
    assertThat(reply.status()).as(reply.body()).isIn(200, 201);
    return reply.json();
  }

  private static Reply ack(StreamServer server, String stream, String id) throws Exception {
    return call(
        server,
        "POST",
        "/streams/" + stream + "/subscribers/ann/ack",
        Optional.of("{\"lastEventId\":\"" + id + "\"}"));
  }

  private static long position(StreamServer server, String stream) throws Exception {
    var all = call(server, "GET", "/streams/" + stream + "/subscribers", Optional.empty()).json();
    return all.get("subscribers").get(0).get("position").asLong();
  }

  private static Reply page(StreamServer server, String stream, String query) throws Exception {
    return call(
        server,
        "GET",
        "/streams/" + stream + "/events" + query,
        Optional.empty(),
        "Accept",
        "application/json");
  }

  /** Returns the numbers in the data of the first events. */
  private static List<Integer> numbers(RawReader reader, int count) {
    return await()
        .until(
            () ->
                reader.lines.stream()
                    .filter(line -> line.startsWith("data: {\"n\":"))
                    .map(line -> Integer.valueOf(line.replaceAll("\\D", "")))
                    .toList(),
            all -> all.size() >= count);
  }

  private static String name(String base, StreamServer server) {
    return base + "-" + server.port();
  }

  /**
   * A reader takes events off its socket and dies: when it reconnects, it gets the same events
   * again.
   */
  @ParameterizedTest
  @EnumSource
  void aReaderThatTookEventsAndDidNotAcknowledgeGetsThemAgain(Store store) throws Exception {
    var server = store.server();
    var stream = name("unacknowledged", server);
    subscribe(server, stream, "start");
    server.publish(stream, 1, 50);
    for (int life = 0; life < 2; life++) {
      try (var reader =
          new RawReader(server.port(), "/streams/" + stream + "/events?subscriber=ann")) {
        assertThat(numbers(reader, 50)).isEqualTo(IntStream.rangeClosed(1, 50).boxed().toList());
        // Longer than a reader without acknowledgement would need until its events count as
        // received.
        await().pollDelay(Confirmations.GRACE.multipliedBy(2)).until(() -> true);
      }
      assertThat(position(server, stream)).isZero();
    }
    assertThat(ack(server, stream, "20").json().get("behind").asLong()).isEqualTo(30);
    try (var reader =
        new RawReader(server.port(), "/streams/" + stream + "/events?subscriber=ann")) {
      assertThat(numbers(reader, 30)).isEqualTo(IntStream.rangeClosed(21, 50).boxed().toList());
    }
  }

  @ParameterizedTest
  @EnumSource
  void anImageOfAPageMovesAndCreatesNothing(Store store) throws Exception {
    var server = store.server();
    var stream = name("image", server);
    server.publish(stream, 1, 3);
    var reply =
        call(
            server,
            "GET",
            "/streams/" + stream + "/events?subscriber=ann&lastEventId=3",
            Optional.empty(),
            "Sec-Fetch-Dest",
            "image",
            "Sec-Fetch-Site",
            "same-origin");
    assertThat(reply.status()).isEqualTo(404);
    assertThat(
            call(server, "GET", "/streams/" + stream + "/subscribers", Optional.empty())
                .json()
                .get("subscribers"))
        .isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void theIdThatASubscriberShowsWhenItReconnectsAcknowledges(Store store) throws Exception {
    var server = store.server();
    var stream = name("reconnect", server);
    subscribe(server, stream, "start");
    server.publish(stream, 1, 10);
    // A URL alone, as a link or an image has it, does not.
    try (var reader =
        new RawReader(
            server.port(), "/streams/" + stream + "/events?subscriber=ann&lastEventId=7")) {
      assertThat(numbers(reader, 3)).containsExactly(8, 9, 10);
    }
    assertThat(position(server, stream)).isZero();
    try (var reader =
        new RawReader(
            server.port(), "/streams/" + stream + "/events?subscriber=ann", "Last-Event-ID: 4")) {
      assertThat(numbers(reader, 6)).containsExactly(5, 6, 7, 8, 9, 10);
    }
    assertThat(position(server, stream)).isEqualTo(4);
  }

  @ParameterizedTest
  @EnumSource
  void aPositionNeverFallsAndNeverLeavesTheStream(Store store) throws Exception {
    var server = store.server();
    var stream = name("bounds", server);
    server.publish(stream, 1, 5);
    assertThat(subscribe(server, stream, "end").get("position").asLong()).isEqualTo(5);
    assertThat(ack(server, stream, "2").json().get("position").asLong()).isEqualTo(5);
    assertThat(ack(server, stream, "6").status()).isEqualTo(400);
    assertThat(ack(server, stream, "evt_unknown").status()).isEqualTo(400);
    assertThat(subscribe(server, stream, "start").get("position").asLong()).isEqualTo(5);
  }

  @ParameterizedTest
  @EnumSource
  void aReadOfAnUnknownSubscriberWithAcknowledgementIsRefusedWithTheWayToCreateIt(Store store)
      throws Exception {
    var server = store.server();
    var reply =
        call(
            server,
            "GET",
            "/streams/" + name("unknown", server) + "/events?subscriber=ann&ack=explicit",
            Optional.empty());
    assertThat(reply.status()).isEqualTo(404);
    assertThat(reply.json().get("detail").asString()).contains("PUT /streams/");
  }

  @ParameterizedTest
  @EnumSource
  void aRepeatedRequestPublishesNothingTwice(Store store) throws Exception {
    var server = store.server();
    var path = "/streams/" + name("keys", server) + "/events";
    var body = Optional.of("{\"event\":\"tick\",\"data\":{\"n\":1}}");
    var first = call(server, "POST", path, body, "Idempotency-Key", "k-1").json();
    var again = call(server, "POST", path, body, "Idempotency-Key", "k-1").json();
    assertThat(first.get("duplicate").asBoolean()).isFalse();
    assertThat(again.get("duplicate").asBoolean()).isTrue();
    assertThat(again.get("id")).isEqualTo(first.get("id"));
    var other = call(server, "POST", path, body, "Idempotency-Key", "k-2").json();
    assertThat(other.get("id").asLong()).isEqualTo(2);
  }

  @ParameterizedTest
  @EnumSource
  void manyAtOnceWithOneKeyAreOneEvent(Store store) throws Exception {
    var server = store.server();
    var stream = name("race", server);
    var body = "{\"data\":1,\"eventId\":\"evt_1\"}";
    var calls =
        IntStream.range(0, 16)
            .mapToObj(
                i ->
                    CompletableFuture.supplyAsync(
                        () -> {
                          try {
                            return server.post(stream, body).statusCode();
                          } catch (Exception e) {
                            throw new IllegalStateException(e);
                          }
                        }))
            .toList();
    assertThat(calls).allSatisfy(call -> assertThat(call.join()).isEqualTo(201));
    assertThat(page(server, stream, "").json().get("events")).hasSize(1);
  }

  @ParameterizedTest
  @EnumSource
  void idsFromOutsideAreKeptAndReadersResumeFromThem(Store store) throws Exception {
    var server = store.server();
    var stream = name("outside", server);
    var events =
        """
        {"events":[{"eventId":"evt_a","data":{"n":1}},{"data":{"n":2}},{"eventId":"evt_c","data":{"n":3}},
                   {"eventId":"evt_a","data":{"n":4}}]}
        """;
    var published =
        call(server, "POST", "/streams/" + stream + "/events/batch", Optional.of(events)).json();
    assertThat(published.get("events").findValuesAsString("id"))
        .containsExactly("1", "2", "3", "1");
    assertThat(published.get("events").get(3).get("duplicate").asBoolean()).isTrue();

    var shown = page(server, stream, "").json().get("events");
    assertThat(shown.findValuesAsString("eventId")).containsExactly("evt_a", "evt_c");
    try (var reader =
        new RawReader(server.port(), "/streams/" + stream + "/events", "Last-Event-ID: evt_a")) {
      assertThat(numbers(reader, 2)).containsExactly(2, 3);
    }
    subscribe(server, stream, "start");
    assertThat(ack(server, stream, "evt_c").json().get("position").asLong()).isEqualTo(3);
    assertThat(
            call(
                    server,
                    "POST",
                    "/streams/" + stream + "/events",
                    Optional.of("{\"eventId\":\"12\",\"data\":1}"))
                .status())
        .isEqualTo(400);
  }

  @ParameterizedTest
  @EnumSource
  void aStreamIsListedAndReadInPages(Store store) throws Exception {
    var server = store.server();
    var stream = name("paged", server);
    server.publish(stream, 1, 25);
    var listed = call(server, "GET", "/streams?limit=1000", Optional.empty()).json();
    assertThat(listed.get("streams").findValuesAsString("name")).contains(stream);
    var first = page(server, stream, "?limit=10").json();
    assertThat(first.get("events")).hasSize(10);
    assertThat(first.get("lastEventId").asLong()).isEqualTo(25);
    var rest =
        page(server, stream, "?limit=100&lastEventId=" + first.get("nextLastEventId").asLong())
            .json();
    assertThat(rest.get("events").findValuesAsString("id"))
        .startsWith("11")
        .endsWith("25")
        .hasSize(15);
    assertThat(rest.has("nextLastEventId")).isFalse();
  }

  /** If acknowledgement is required, a GET changes nothing, whatever it asks for. */
  @Test
  void aReadMovesNoSubscriberWhereAcknowledgementIsRequired() {
    try (var server = TestServer.start("streams: { require_acknowledgement: true }")) {
      for (int i = 1; i <= 3; i++) {
        assertThat(server.post("/streams/s/events", "{\"data\":" + i + "}").status())
            .isEqualTo(201);
      }
      var unknown = server.get("/streams/s/events?subscriber=ann");
      assertThat(unknown.problem()).isEqualTo("not-found");
      assertThat(unknown.body()).contains("PUT /streams/s/subscribers/ann");
      assertThat(server.get("/streams/s/events?subscriber=ann&ack=delivered").problem())
          .isEqualTo("conflict");
      assertThat(server.get("/streams/s/subscribers").json().get("subscribers")).isEmpty();
    }
  }
}
