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
import tools.jackson.databind.json.JsonMapper;

/**
 * Checks that the API description documents every field, parameter and schema, and agrees with the
 * server.
 */
class ApiDescriptionTest {
  private static TestServer server;
  private static JsonNode document;

  @BeforeAll
  static void start() {
    server = TestServer.start("", TestDatabase.create().environment());
    document = server.get("/openapi.json").json();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private record Parameter(String method, String path, JsonNode node) {
    String name() {
      return node.get("name").asString();
    }

    boolean isQuery() {
      return node.get("in").asString().equals("query");
    }
  }

  private static List<Parameter> parameters() {
    var all = new ArrayList<Parameter>();
    for (var path : document.get("paths").properties()) {
      for (var method : path.getValue().properties()) {
        for (var parameter : method.getValue().get("parameters")) {
          all.add(
              new Parameter(method.getKey().toUpperCase(Locale.ROOT), path.getKey(), parameter));
        }
      }
    }
    return all;
  }

  @Test
  void everyFieldAndEveryParameterIsDescribed() {
    var missing = new TreeSet<String>();
    for (var schema : document.at("/components/schemas").properties()) {
      for (var field : schema.getValue().get("properties").properties()) {
        if (field.getValue().path("description").asString("").isBlank()) {
          missing.add(schema.getKey() + "." + field.getKey());
        }
      }
    }
    for (var parameter : parameters()) {
      if (parameter.node().path("description").asString("").isBlank()) {
        missing.add(parameter.method() + " " + parameter.path() + " " + parameter.name());
      }
    }
    assertThat(missing).as("add them to openapi/words.json").isEmpty();
  }

  @Test
  void everyFieldAndEveryParameterHasAnExample() {
    var missing = new TreeSet<String>();
    for (var schema : document.at("/components/schemas").properties()) {
      for (var field : schema.getValue().get("properties").properties()) {
        if (!showsItsValues(field.getValue())) {
          missing.add(schema.getKey() + "." + field.getKey());
        }
      }
    }
    for (var parameter : parameters()) {
      if (!showsItsValues(parameter.node().get("schema"))) {
        missing.add(parameter.method() + " " + parameter.path() + " " + parameter.name());
      }
    }
    assertThat(missing).as("add them to openapi/words.json").isEmpty();
  }

  /** A reference leads to a schema whose own fields have examples. */
  private static boolean showsItsValues(JsonNode schema) {
    return !schema.path("examples").isEmpty()
        || schema.has("enum")
        || schema.path("type").asString("").equals("boolean")
        || !schema.findValues("$ref").isEmpty();
  }

  @Test
  void everyEntryOfTheWordsIsAboutAFieldOrParameterThatExists() throws Exception {
    JsonNode words;
    try (var in = getClass().getResourceAsStream("/openapi/words.json")) {
      words = JsonMapper.shared().readTree(in);
    }
    var known = new TreeSet<String>();
    for (var schema : document.at("/components/schemas").properties()) {
      known.add(schema.getKey());
      for (var field : schema.getValue().get("properties").properties()) {
        known.add(field.getKey());
        known.add(schema.getKey() + "." + field.getKey());
      }
    }
    for (var parameter : parameters()) {
      known.add(parameter.name());
      known.add(parameter.method() + " " + parameter.path() + " " + parameter.name());
    }
    for (var part : List.of("schemas", "fields", "parameters")) {
      assertThat(known).as(part).containsAll(words.get(part).propertyNames());
    }
  }

  /** The registry's session and the queue inspector's session are two schemas. */
  @Test
  void aRegisteredSessionIsDescribedAsItIsAnswered() {
    var answered =
        server.put(
            "/sessions",
            """
            {"userObjectId":"11111111-1111-4111-8111-111111111111",
             "tenantObjectId":"22222222-2222-4222-8222-222222222222",
             "capacityId":"33333333-3333-4333-8333-333333333333","sessionKind":1}
            """);
    assertThat(answered.status()).isEqualTo(201);
    var reference =
        document.at("/paths/~1sessions/put/responses/201/content/application~1json/schema/$ref");
    var schema = document.at(reference.asString().substring(1));
    assertThat(schema.get("properties").propertyNames())
        .containsExactlyInAnyOrderElementsOf(answered.json().propertyNames());
  }

  /**
   * A parameter that is described as a number must be a number: the server refuses a word and names
   * it.
   */
  @Test
  void typedParametersAreReadAsTheyAreDescribed() {
    server.put("/queues/api", "{\"mode\":\"ORDERED\"}");
    int checked = 0;
    for (var parameter : parameters()) {
      var schema = parameter.node().get("schema");
      boolean isTyped =
          schema.has("enum")
              || schema.has("format")
              || !schema.get("type").asString().equals("string");
      if (!parameter.isQuery() || !isTyped) {
        continue;
      }
      var path = parameter.path().replace("{queue}", "api").replaceAll("\\{[^}]*}", "none");
      var reply =
          server.send(
              parameter.method(), path + "?" + parameter.name() + "=~absurd~", Optional.empty());
      assertThat(reply.status()).as("%s", parameter).isEqualTo(400);
      assertThat(reply.body()).as("%s", parameter).contains("\"" + parameter.name() + "\"");
      checked++;
    }
    assertThat(checked).isGreaterThan(15);
  }

  @Test
  void bodiesWithRequiredFieldsAreRequired() {
    assertThat(document.at("/paths/~1sessions/put/requestBody/required").asBoolean()).isTrue();
    assertThat(document.at("/paths/~1queues~1{queue}~1leases/post/requestBody/required"))
        .hasToString("false");
  }

  @Test
  void aBodyThatIsDescribedAsOptionalMayBeLeftOut() {
    server.put("/queues/api", "{\"mode\":\"ORDERED\"}");
    server.put("/queues/loose", "{\"mode\":\"UNORDERED\"}");
    int checked = 0;
    for (var path : document.get("paths").properties()) {
      for (var method : path.getValue().properties()) {
        if (!method.getValue().at("/requestBody/required").asBoolean(true)) {
          var queue = path.getKey().endsWith("/receive") ? "loose" : "api";
          var real = path.getKey().replace("{queue}", queue).replaceAll("\\{[^}]*}", "none");
          var reply = server.send(method.getKey().toUpperCase(Locale.ROOT), real, Optional.empty());
          assertThat(reply.status()).as("%s: %s", real, reply.body()).isLessThan(400);
          checked++;
        }
      }
    }
    assertThat(checked).isGreaterThan(2);
  }
}
