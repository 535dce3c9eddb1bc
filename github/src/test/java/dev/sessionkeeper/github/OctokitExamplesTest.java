package dev.sessionkeeper.github;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The public examples of real payloads, each compared with a written expectation of its session.
 */
class OctokitExamplesTest {
  private static final JsonMapper JSON = new JsonMapper();

  record Example(int line, String event, JsonNode payload, List<String> expected) {
    @Override
    public String toString() {
      return line + " " + event + " " + expected.get(1);
    }
  }

  static Stream<Example> examples() {
    var payloads = Deliveries.lines("octokit-examples.jsonl.gz");
    var sessions = Deliveries.lines("octokit-sessions.txt");
    assertThat(payloads).hasSameSizeAs(sessions);
    return IntStream.range(0, payloads.size())
        .mapToObj(
            i -> {
              var example = JSON.readTree(payloads.get(i));
              return new Example(
                  i + 1,
                  example.get("event").asString(),
                  example.get("payload"),
                  List.of(sessions.get(i).split("\t", -1)));
            });
  }

  @ParameterizedTest
  @MethodSource("examples")
  void everyExampleGoesToItsSession(Example example) {
    var event =
        Deliveries.event(
            example.event(), JSON.writeValueAsString(example.payload()).getBytes(UTF_8));
    assertThat(List.of(example.event(), event.action().orElse("-")))
        .isEqualTo(example.expected().subList(0, 2));
    assertThat(Deliveries.entitySession(event)).isEqualTo(example.expected().get(2));
    assertThat(Deliveries.repositorySession(event)).isEqualTo(example.expected().get(3));
    assertThat(Ordering.by(OrderingScope.NONE).sessionOf(event)).isEmpty();
    assertThat(event.sender().isPresent())
        .isEqualTo(example.payload().path("sender").path("login").isString());
  }

  @Test
  void thereAreAsManyAsPublished() {
    assertThat(examples()).hasSize(329);
    assertThat(examples().map(Example::event).distinct()).hasSize(58);
    assertThat(examples().filter(e -> e.payload().path("repository").isMissingNode())).hasSize(49);
  }

  @Test
  void aThirdOfTheChecksNamesNoPullRequestAndKeepsItsOwnSession() {
    var join = new Ordering(OrderingScope.ENTITY, SessionKey.NAME, true);
    var sessions =
        examples()
            .filter(e -> e.event().equals("check_run") || e.event().equals("check_suite"))
            .map(e -> Deliveries.event(e.event(), JSON.writeValueAsString(e.payload())))
            .map(event -> Deliveries.session(event, join))
            .toList();
    assertThat(sessions).hasSize(18);
    assertThat(sessions.stream().filter(session -> session.contains("/pull_request/"))).hasSize(12);
    assertThat(sessions.stream().filter(session -> session.contains("/check_"))).hasSize(6);
  }
}
