package dev.sessionkeeper.github;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Every documented event, even those without a public example, with and without its id. */
class EntityOfEveryEventTest {
  private static final JsonMapper JSON = new JsonMapper();

  record Row(String event, String entityType, List<String> paths) {}

  static Stream<Row> rows() {
    return Deliveries.lines("events.txt").stream()
        .map(line -> List.of(line.split(" ", -1)))
        .map(words -> new Row(words.get(0), words.get(1), words.subList(2, words.size())));
  }

  @Test
  void allDocumentedEventsAreKnown() {
    assertThat(rows()).hasSize(75);
    assertThat(KnownEvents.types())
        .containsExactlyInAnyOrderElementsOf(rows().map(Row::event).toList());
  }

  @ParameterizedTest
  @MethodSource("rows")
  void theFirstIdThatIsThereNamesTheSession(Row row) {
    for (int first = 0; first <= row.paths().size(); first++) {
      var payload = inApp();
      var there = row.paths().subList(first, row.paths().size());
      there.forEach(path -> put(payload, path, row));
      var session = Deliveries.entitySession(Deliveries.event(row.event(), payload.toString()));
      // The repository's own id is present even if the others are not.
      var named = row.paths().stream().filter(p -> there.contains(p) || p.equals("repository.id"));
      assertThat(session)
          .isEqualTo(
              named
                  .findFirst()
                  .map(path -> "acme/app/" + row.entityType() + "/" + valueOf(path, row))
                  .orElse("acme/app/repository"));
    }
  }

  @ParameterizedTest
  @MethodSource("rows")
  void withoutARepositoryTheOrganisationThenTheInstallationThenTheTypeNamesTheSession(Row row) {
    var payload = JSON.createObjectNode();
    row.paths().stream()
        .filter(path -> !path.startsWith("repository."))
        .filter(path -> !path.startsWith("installation."))
        .forEach(path -> put(payload, path, row));
    assertThat(lanesOf(row, payload)).containsOnly("github/" + row.event());
    put(payload, "installation.id", 77);
    assertThat(lanesOf(row, payload)).containsOnly("installation/77");
    payload.withObject("/organization").put("login", "acme");
    assertThat(lanesOf(row, payload)).containsOnly("organization/acme");
  }

  private static List<String> lanesOf(Row row, ObjectNode payload) {
    var event = Deliveries.event(row.event(), payload.toString());
    return List.of(Deliveries.entitySession(event), Deliveries.repositorySession(event));
  }

  private static ObjectNode inApp() {
    var payload = JSON.createObjectNode();
    payload.putObject("repository").put("id", 42).put("full_name", "acme/app");
    return payload;
  }

  private static void put(ObjectNode payload, String path, Row row) {
    var value = valueOf(path, row);
    if (isText(path)) {
      parent(payload, path).put(last(path), value);
    } else {
      put(payload, path, Long.parseLong(value));
    }
  }

  private static void put(ObjectNode payload, String path, long value) {
    parent(payload, path).put(last(path), value);
  }

  private static ObjectNode parent(ObjectNode payload, String path) {
    int dot = path.lastIndexOf('.');
    return dot < 0 ? payload : payload.withObject("/" + path.substring(0, dot).replace('.', '/'));
  }

  private static String last(String path) {
    return path.substring(path.lastIndexOf('.') + 1);
  }

  private static String valueOf(String path, Row row) {
    if (path.equals("repository.id")) {
      return "42";
    }
    return isText(path) ? "text-" + last(path) : Integer.toString(1000 + row.paths().indexOf(path));
  }

  private static boolean isText(String path) {
    return Stream.of("sha", "ghsa_id", "node_id", "property_name", "workflow", "type")
        .anyMatch(path::endsWith);
  }
}
