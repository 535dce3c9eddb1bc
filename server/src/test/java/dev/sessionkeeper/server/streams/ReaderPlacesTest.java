package dev.sessionkeeper.server.streams;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.server.TestServer;
import dev.sessionkeeper.server.http.ProblemException;
import dev.sessionkeeper.server.security.ApiKeys;
import dev.sessionkeeper.store.Actor;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ReaderPlacesTest {
  private static final StreamsConfig LIMITS =
      new StreamsConfig(
          Duration.ofDays(7), Duration.ofSeconds(15), Duration.ofSeconds(30), 4, 2, 10, 10, false);

  private final ReaderPlaces places = new ReaderPlaces(() -> LIMITS);

  @Test
  void oneCredentialCannotTakeAllPlaces() {
    var first = places.take("mallory");
    var second = places.take("mallory");
    assertThatThrownBy(() -> places.take("mallory")).isInstanceOf(ProblemException.class);
    places.take("ann");
    second.close();
    second.close();
    places.take("mallory");
    places.take("ann");
    assertThatThrownBy(() -> places.take("bob")).isInstanceOf(ProblemException.class);
    first.close();
    places.take("bob");
  }

  @Test
  void callersOfAnOpenServerShareAllPlaces() {
    for (int i = 0; i < 4; i++) {
      places.take(Actor.LOCAL);
    }
    assertThatThrownBy(() -> places.take(Actor.LOCAL)).isInstanceOf(ProblemException.class);
  }

  @Test
  void aCredentialOverItsShareIsRefusedWhileOthersAreServed() throws Exception {
    var mallory = ApiKeys.generate();
    var ann = ApiKeys.generate();
    var yaml =
        """
        streams: { max_readers: 4, max_readers_per_credential: 2 }
        security:
          keys:
            - { name: mallory, sha256: %s, roles: [read] }
            - { name: ann, sha256: %s, roles: [read] }
        """
            .formatted(mallory.sha256(), ann.sha256());
    try (var server = TestServer.start(yaml);
        var first = reader(server, mallory);
        var second = reader(server, mallory);
        var third = reader(server, mallory);
        var other = reader(server, ann)) {
      org.awaitility.Awaitility.await()
          .untilAsserted(
              () -> {
                assertThat(first.lines).contains("retry: 1000");
                assertThat(second.lines).contains("retry: 1000");
                assertThat(third.lines).anyMatch(line -> line.contains("503"));
                assertThat(other.lines).contains("retry: 1000");
              });
    }
  }

  /** Returns when the server has begun to answer, so that places are taken in this order. */
  private static RawReader reader(TestServer server, ApiKeys.Generated key) throws Exception {
    var reader =
        new RawReader(server.port(), "/streams/s/events", "Authorization: Bearer " + key.key());
    org.awaitility.Awaitility.await().until(() -> !reader.lines.isEmpty());
    return reader;
  }
}
