package dev.sessionkeeper.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/**
 * The description matches the server: every route is described, and every described route is
 * served.
 */
class OpenApiTest {
  private static TestServer server;

  @BeforeAll
  static void start() {
    server = TestServer.start("");
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static JsonNode document() {
    return server.get("/openapi.json").json();
  }

  private record Operation(String method, String path, JsonNode node) {}

  private static List<Operation> operations() {
    var found = new ArrayList<Operation>();
    for (var path : document().get("paths").properties()) {
      for (var method : path.getValue().properties()) {
        found.add(
            new Operation(
                method.getKey().toUpperCase(Locale.ROOT), path.getKey(), method.getValue()));
      }
    }
    return found;
  }

  @Test
  void everyRouteIsDescribedAndEverythingDescribedIsARoute() {
    var described = new TreeSet<String>();
    operations().forEach(operation -> described.add(operation.method() + " " + operation.path()));
    var served = new TreeSet<String>();
    server.server().routes().all().stream()
        .filter(route -> !route.isPage())
        .forEach(route -> served.add(route.toString()));
    assertThat(described).isEqualTo(served).hasSizeGreaterThan(20);
  }

  @Test
  void everyOperationSaysWhatItIsForAndWhatItAnswers() {
    for (var operation : operations()) {
      assertThat(operation.node().get("summary").asString()).as("%s", operation).isNotBlank();
      assertThat(operation.node().get("responses").propertyNames())
          .as("%s %s", operation.method(), operation.path())
          .anyMatch(status -> status.startsWith("2"))
          .contains("default");
    }
  }

  @Test
  void everyReferenceHasItsSchema() {
    var document = document();
    for (var reference : document.findValuesAsString("$ref")) {
      assertThat(document.at(reference.substring(1)).isMissingNode()).as(reference).isFalse();
    }
  }

  /**
   * Sends absurd values under all described names: the server knows each name, and no other one.
   */
  @Test
  void theFieldsOfARequestAreThoseThatTheServerReads() {
    server.put("/queues/api", "{\"mode\":\"ORDERED\"}");
    int checked = 0;
    for (var operation : operations()) {
      var schema =
          operation.node().at("/requestBody/content/application~1json/schema/$ref").asString("");
      if (schema.isEmpty()) {
        continue;
      }
      var names = document().at(schema.substring(1) + "/properties").propertyNames();
      var body = new StringBuilder("{\"surprise\":[{}]");
      names.forEach(name -> body.append(",\"").append(name).append("\":[[]]"));
      var path = operation.path().replace("{queue}", "api").replaceAll("\\{[^}]*}", "none");
      var reply = server.send(operation.method(), path, Optional.of(body + "}"));
      assertThat(reply.status()).as("%s %s", operation.method(), path).isEqualTo(400);
      var unknown = new TreeSet<String>();
      for (var error : reply.json().get("errors")) {
        if (error.get("reason").asString().startsWith("is not known here")) {
          unknown.add(error.get("field").asString());
        }
      }
      assertThat(unknown).as("%s %s", operation.method(), path).containsExactly("surprise");
      checked++;
    }
    assertThat(checked).isGreaterThan(6);
  }
}
