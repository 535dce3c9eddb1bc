package dev.sessionkeeper.server.security;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.server.TestServer;
import dev.sessionkeeper.server.http.Role;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Every endpoint, every role, and a foreign credential, taken from the API's own description. */
class AccessMatrixTest {
  private static final Map<Role, ApiKeys.Generated> KEYS = new EnumMap<>(Role.class);
  private static final ApiKeys.Generated FOREIGN = ApiKeys.generate();
  private static final ApiKeys.Generated TENANT = ApiKeys.generate();
  private static TestServer server;

  @BeforeAll
  static void start() {
    var yaml = new StringBuilder("security:\n  keys:\n");
    for (var role : Role.values()) {
      if (role != Role.ANYONE) {
        KEYS.put(role, ApiKeys.generate());
        yaml.append(key(role.key(), KEYS.get(role), role.key(), ""));
      }
    }
    yaml.append(key("foreign", FOREIGN, "admin", ", queues: [other]"));
    yaml.append(key("tenant", TENANT, "admin", ", tenant: 6f9619ff-8b86-d011-b42d-00cf4fc964ff"));
    server = TestServer.start(yaml.toString());
    call("PUT", "/queues/mine", Optional.of("{\"mode\":\"ORDERED\"}"), KEYS.get(Role.ADMIN));
  }

  private static String key(String name, ApiKeys.Generated key, String role, String more) {
    return "    - { name: %s, sha256: %s, roles: [%s]%s }\n"
        .formatted(name, key.sha256(), role, more);
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static TestServer.Reply call(
      String method, String path, Optional<String> body, ApiKeys.Generated key) {
    return server.send(method, path, body, "Authorization", "Bearer " + key.key());
  }

  private interface Check {
    void check(String method, String path, Role role);
  }

  private static void forEveryOperation(Check check) {
    var paths = server.get("/openapi.json").json().get("paths");
    for (var path : paths.properties()) {
      for (var method : path.getValue().properties()) {
        check.check(
            method.getKey().toUpperCase(Locale.ROOT),
            path.getKey().replace("{queue}", "mine").replaceAll("\\{[^}]*}", "none"),
            roleOf(method.getValue()));
      }
    }
  }

  private static Role roleOf(JsonNode operation) {
    return Role.valueOf(operation.get("x-role").asString().toUpperCase(Locale.ROOT));
  }

  private static Optional<String> bodyFor(String method) {
    return method.equals("POST") || method.equals("PUT") ? Optional.of("{}") : Optional.empty();
  }

  @Test
  void withoutACredentialOnlyOpenCallsAreServed() {
    forEveryOperation(
        (method, path, role) -> {
          var reply = server.send(method, path, bodyFor(method));
          if (role == Role.ANYONE) {
            assertThat(reply.status()).as("%s %s", method, path).isNotEqualTo(401);
          } else {
            assertThat(reply.status()).as("%s %s", method, path).isEqualTo(401);
            assertThat(reply.header("WWW-Authenticate")).startsWith("Bearer");
          }
        });
  }

  @Test
  void eachRoleIsServedWhatItGrantsAndNothingElse() {
    forEveryOperation(
        (method, path, role) -> {
          for (var key : KEYS.entrySet()) {
            var reply = call(method, path, bodyFor(method), key.getValue());
            var granted = role.isGrantedBy(Set.of(key.getKey()));
            assertThat(reply.status() == 403)
                .as("%s %s with role %s: %s", method, path, key.getKey(), reply)
                .isEqualTo(!granted);
            assertThat(reply.status()).isNotEqualTo(401).isLessThan(500);
          }
        });
  }

  @Test
  void aQueueOfSomebodyElseDoesNotExist() {
    forEveryOperation(
        (method, path, role) -> {
          if (path.startsWith("/queues/mine")) {
            for (var key : Set.of(FOREIGN, TENANT)) {
              var reply = call(method, path, bodyFor(method), key);
              assertThat(reply.status()).as("%s %s", method, path).isEqualTo(404);
              assertThat(reply.problem()).isEqualTo("unknown-queue");
            }
          }
        });
    assertThat(call("GET", "/queues", Optional.empty(), FOREIGN).json().get("queues")).isEmpty();
    assertThat(call("GET", "/", Optional.empty(), FOREIGN).body()).doesNotContain("mine");
  }

  @Test
  void aWrongKeyIsRefused() {
    assertThat(call("GET", "/queues", Optional.empty(), ApiKeys.generate()).problem())
        .isEqualTo("unauthenticated");
  }
}
