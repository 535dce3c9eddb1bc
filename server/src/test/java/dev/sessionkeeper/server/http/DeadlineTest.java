package dev.sessionkeeper.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.time.TimeSource;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Every request is answered in time, even if its handler hangs. */
class DeadlineTest {
  private static final Duration DEADLINE = Duration.ofMillis(500);

  private final CountDownLatch interrupted = new CountDownLatch(1);
  private final CountDownLatch givenBack = new CountDownLatch(1);
  private final CountDownLatch mayAnswer = new CountDownLatch(1);
  private final HttpClient client = HttpClient.newHttpClient();
  private HttpServer server;

  @BeforeEach
  void start() throws IOException {
    var routes =
        List.of(
            Route.get("/hangs", Role.READ, Scope.server("Tests are"), this::hang),
            Route.post("/hangs", Role.READ, Scope.server("Tests are"), this::hang),
            Route.post("/late", Role.READ, Scope.server("Tests are"), this::answerLate),
            Route.get(
                "/waits",
                Role.READ,
                Scope.server("Tests are"),
                r -> {
                  r.extendDeadline(Duration.ofSeconds(30));
                  return r.await(() -> new CountDownLatch(1).await(1500, TimeUnit.MILLISECONDS))
                      .map(done -> Response.ok(Map.of("waited", true)))
                      .orElseGet(Response::noContent);
                }),
            Route.get("/quick", Role.READ, Scope.server("Tests are"), r -> Response.ok(Map.of())));
    server =
        HttpServer.start(
            HttpOptions.of("127.0.0.1", 0).withDeadline(DEADLINE),
            new RouteTable(routes),
            Gate.open(),
            RequestListener.none(),
            TimeSource.system());
  }

  @AfterEach
  void stop() {
    client.close();
    server.close();
  }

  private Response hang(Request request) throws Exception {
    try {
      new CountDownLatch(1).await();
      return Response.noContent();
    } catch (InterruptedException e) {
      interrupted.countDown();
      throw e;
    }
  }

  /** Continues although it was interrupted, as a commit does. */
  private Response answerLate(Request request) {
    while (mayAnswer.getCount() > 0) {
      try {
        mayAnswer.await();
      } catch (InterruptedException e) {
        interrupted.countDown();
      }
    }
    return Response.ok(Map.of("lease", 1)).ifUndelivered(givenBack::countDown);
  }

  @Test
  void aReadThatHangsIsUnavailable() throws Exception {
    var reply = send("GET", "/hangs");
    assertThat(reply.statusCode()).isEqualTo(503);
    assertThat(reply.body()).contains("/problems/unavailable\"", "nothing was changed");
    assertThat(reply.headers().firstValue("Retry-After")).isPresent();
    assertThat(interrupted.await(10, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void theOutcomeOfAChangeThatHangsIsUnknown() throws Exception {
    var reply = send("POST", "/hangs");
    assertThat(reply.statusCode()).isEqualTo(503);
    assertThat(reply.body())
        .contains("/problems/outcome-unknown\"", "may or may not have taken effect")
        .doesNotContain("nothing was changed");
    assertThat(reply.headers().firstValue("Retry-After")).isPresent();
    assertThat(interrupted.await(10, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void whatALateHandlerGrantsIsGivenBack() throws Exception {
    assertThat(send("POST", "/late").statusCode()).isEqualTo(503);
    assertThat(interrupted.await(10, TimeUnit.SECONDS)).isTrue();
    assertThat(givenBack.getCount()).isEqualTo(1);
    mayAnswer.countDown();
    assertThat(givenBack.await(10, TimeUnit.SECONDS)).isTrue();
    await().until(() -> server.bufferedBytes() == 0);
  }

  @Test
  void aWaitByDesignMayTakeLonger() throws Exception {
    assertThat(send("GET", "/waits").body()).isEqualTo("{\"waited\":true}");
  }

  @Test
  void theConnectionIsUsedAgainBehindAnAnswerInTime() throws Exception {
    assertThat(send("GET", "/hangs").statusCode()).isEqualTo(503);
    assertThat(send("GET", "/quick").statusCode()).isEqualTo(200);
  }

  private HttpResponse<String> send(String method, String path) throws Exception {
    var request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
            .timeout(Duration.ofSeconds(20))
            .method(method, HttpRequest.BodyPublishers.noBody())
            .build();
    return client.send(request, HttpResponse.BodyHandlers.ofString());
  }
}
