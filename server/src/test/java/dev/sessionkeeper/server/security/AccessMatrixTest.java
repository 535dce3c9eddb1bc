package dev.sessionkeeper.server.security;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.server.TestServer;
import dev.sessionkeeper.server.http.Role;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/**
 * Every endpoint, every role, and foreign credentials, taken from the API's own description; with
 * things that are really there.
 */
class AccessMatrixTest {
  private static final Map<Role, ApiKeys.Generated> KEYS = new EnumMap<>(Role.class);
  private static final ApiKeys.Generated OTHER_QUEUE = ApiKeys.generate();
  private static final ApiKeys.Generated OTHER_TENANT = ApiKeys.generate();
  private static final String MORE =
      """
      usage: { interval: 1s }
      github: { secrets: [ "%s" ] }
      bots: [ { name: mine, events: ["*"], ordering_scope: entity } ]
      """;
  private static TestServer server;
  private static Inventory inventory;

  @BeforeAll
  static void start() throws Exception {
    var yaml = new StringBuilder(MORE.formatted(Inventory.SECRET)).append("security:\n  keys:\n");
    for (var role : Role.values()) {
      if (role != Role.ANYONE) {
        KEYS.put(role, ApiKeys.generate());
        yaml.append(key(role.key(), KEYS.get(role), role.key(), ""));
      }
    }
    yaml.append(key("queue", OTHER_QUEUE, "admin", ", queues: [other]"));
    yaml.append(
        key("tenant", OTHER_TENANT, "admin", ", tenant: 00000000-0000-4000-8000-000000000001"));
    server = TestServer.start(yaml.toString(), TestDatabase.create().environment());
    inventory = new Inventory(server, KEYS.get(Role.ADMIN));
  }

  private static String key(String name, ApiKeys.Generated key, String role, String more) {
    return "    - { name: %s, sha256: %s, roles: [%s]%s }\n"
        .formatted(name, key.sha256(), role, more);
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private record Operation(String method, String template, Role role, String mediaType) {
    Optional<String> body() {
      return mediaType.isEmpty() ? Optional.empty() : Optional.of(inventory.body(method, template));
    }

    boolean isOfThingsWithNames() {
      return template.contains("{") && !template.startsWith("/jobs");
    }

    @Override
    public String toString() {
      return method + " " + template;
    }
  }

  private static List<Operation> operations() {
    var all = new ArrayList<Operation>();
    for (var path : server.get("/openapi.json").json().get("paths").properties()) {
      for (var method : path.getValue().properties()) {
        all.add(
            new Operation(
                method.getKey().toUpperCase(Locale.ROOT),
                path.getKey(),
                roleOf(method.getValue()),
                mediaType(method.getValue())));
      }
    }
    return all;
  }

  private static Role roleOf(JsonNode operation) {
    return Role.valueOf(operation.get("x-role").asString().toUpperCase(Locale.ROOT));
  }

  private static String mediaType(JsonNode operation) {
    var content = operation.at("/requestBody/content");
    return content.isMissingNode() ? "" : content.propertyNames().iterator().next();
  }

  private static TestServer.Reply call(
      Operation operation, String path, Optional<String> body, ApiKeys.Generated key) {
    return server.send(operation.method(), path, body, "Authorization", "Bearer " + key.key());
  }

  @Test
  void itIsAboutEverythingThatIsServed() {
    var described = operations().stream().map(Operation::toString).toList();
    assertThat(described)
        .contains("PUT /sessions", "GET /usages/proof", "POST /jobs/{name}/run", "GET /events")
        .hasSizeGreaterThan(45);
  }

  @Test
  void withoutACredentialOnlyOpenCallsAreServed() {
    for (var operation : operations()) {
      var path = inventory.path(operation.template());
      var reply = server.send(operation.method(), path, operation.body());
      if (operation.role() == Role.ANYONE) {
        // The webhook is signed instead, and this call is not.
        boolean isSigned = operation.template().startsWith("/webhooks");
        assertThat(reply.status() == 401).as("%s", operation).isEqualTo(isSigned);
      } else {
        assertThat(reply.status()).as("%s", operation).isEqualTo(401);
        assertThat(reply.header("WWW-Authenticate")).startsWith("Bearer");
      }
    }
  }

  @Test
  void eachRoleIsServedWhatItGrantsAndNothingElse() {
    for (var operation : operations()) {
      for (var key : KEYS.entrySet()) {
        if (operation.role() == Role.ANYONE) {
          continue;
        }
        var path = inventory.path(operation.template());
        var reply = call(operation, path, operation.body(), key.getValue());
        if (operation.role().isGrantedBy(Set.of(key.getKey()))) {
          assertThat(reply.status())
              .as("%s with role %s: %s", operation, key.getKey(), reply)
              .isBetween(200, 299);
        } else {
          assertThat(reply.problem())
              .as("%s with role %s: %s", operation, key.getKey(), reply)
              .isEqualTo("forbidden");
        }
      }
    }
  }

  @Test
  void whatIsSomebodyElsesDoesNotExist() {
    for (var operation : operations()) {
      if (operation.role() == Role.ANYONE) {
        continue;
      }
      for (var key : List.of(OTHER_QUEUE, OTHER_TENANT)) {
        var path = inventory.path(operation.template());
        var body = operation.body();
        var reply = call(operation, path, body, key);
        var said = "%s as a stranger: %s".formatted(operation, reply);
        if (key == OTHER_TENANT || operation.template().startsWith("/queues")) {
          requireNothingOfOurs(operation, reply, said);
        }
        assertThat(reply.status()).as(said).isNotEqualTo(401).isLessThan(500);
        if (reply.status() >= 400) {
          // The very same call is served to whom it belongs.
          assertThat(call(operation, path, body, KEYS.get(Role.ADMIN)).status())
              .as("%s", operation)
              .isBetween(200, 299);
        }
      }
    }
  }

  private static void requireNothingOfOurs(
      Operation operation, TestServer.Reply reply, String said) {
    if (operation.isOfThingsWithNames()) {
      assertThat(reply.status()).as(said).isEqualTo(404);
    }
    if (reply.status() < 300) {
      assertThat(reply.body()).as(said).doesNotContain(Inventory.MARKS);
    } else {
      assertThat(reply.status()).as(said).isIn(403, 404);
    }
  }

  @Test
  void whoIsBoundToAQueueSeesNeitherOtherQueuesNorTheWholeServer() {
    for (var path : List.of("/queues", "/", "/events")) {
      assertThat(get(path, OTHER_QUEUE).body()).doesNotContain("mine");
    }
    assertThat(get("/metrics", OTHER_QUEUE).problem()).isEqualTo("forbidden");
  }

  @Test
  void aWrongKeyIsRefused() {
    assertThat(get("/queues", ApiKeys.generate()).problem()).isEqualTo("unauthenticated");
  }

  private static TestServer.Reply get(String path, ApiKeys.Generated key) {
    return server.send("GET", path, Optional.empty(), "Authorization", "Bearer " + key.key());
  }
}
