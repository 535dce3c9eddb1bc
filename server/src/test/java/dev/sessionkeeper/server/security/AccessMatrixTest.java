package dev.sessionkeeper.server.security;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.server.TestServer;
import dev.sessionkeeper.server.http.Role;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * Calls every route of a running server with every kind of credential, on objects that exist. The
 * calls come from the API's own description, and the expected outcome follows from the role and
 * scope that the route declares. So a new route is covered as soon as it is served.
 */
class AccessMatrixTest {
  private static final String FOREIGN_TENANT = "00000000-0000-4000-8000-000000000001";
  private static final String OWN_QUEUES = ", queues: [mine, mine-loose, mine-spare]";
  private static final String FOREIGN_QUEUES = ", queues: [other]";
  private static final String OWN_TENANT = ", tenant: " + Inventory.TENANT;
  private static final String OTHER_TENANT = ", tenant: " + FOREIGN_TENANT;
  private static final List<Role> ROLES =
      List.of(Role.READ, Role.SEND, Role.CONSUME, Role.OPERATE, Role.ADMIN);
  private static final String MORE =
      """
      usage: { interval: 1s }
      github: { secrets: [ "%s" ] }
      bots: [ { name: mine, events: ["*"], ordering_scope: entity, max_concurrent_sessions: 1000 } ]
      """;

  @TempDir static Path folder;
  private static final List<Credential> CREDENTIALS = new ArrayList<>();
  private static final ApiKeys.Generated ADMIN = ApiKeys.generate();
  private static TestServer server;
  private static Inventory inventory;

  /** The objects that a credential is bound to. */
  private enum Tie {
    NONE,
    OWN,
    FOREIGN
  }

  /** The outcome of a call. */
  private enum Outcome {
    /** 2xx. */
    SERVED,
    /** 2xx, without any data of the objects. */
    EMPTY,
    UNAUTHENTICATED,
    FORBIDDEN,
    NOT_FOUND,
    /** 403 or 404: the body names an object of another tenant or queue. */
    REFUSED
  }

  private record Credential(
      String name, Optional<String> secret, boolean valid, Set<Role> roles, Tie queue, Tie tenant) {
    boolean isUnbound() {
      return queue == Tie.NONE && tenant == Tie.NONE;
    }

    String[] headers() {
      return secret.map(text -> new String[] {"Authorization", "Bearer " + text}).orElse(NO_HEADER);
    }

    private static final String[] NO_HEADER = {};

    @Override
    public String toString() {
      return name;
    }
  }

  private record Operation(
      String method, String template, Role role, String scope, String mediaType) {
    boolean namesAnObject() {
      return template.contains("{");
    }

    @Override
    public String toString() {
      return method + " " + template;
    }
  }

  @BeforeAll
  static void start() throws Exception {
    var tokens = TestTokens.in(folder);
    var yaml =
        new StringBuilder(MORE.formatted(Inventory.SECRET))
            .append("security:\n")
            .append(tokens.yaml(""))
            .append("  keys:\n");
    yaml.append(line("boss", ADMIN, Role.ADMIN, ""));
    invalid("no credential", Optional.empty());
    invalid("an unknown key", Optional.of(ApiKeys.generate().key()));
    for (var role : ROLES) {
      yaml.append(key(role, "", Tie.NONE, Tie.NONE));
      yaml.append(key(role, OWN_QUEUES, Tie.OWN, Tie.NONE));
      yaml.append(key(role, OWN_TENANT, Tie.NONE, Tie.OWN));
    }
    yaml.append(key(Role.ADMIN, FOREIGN_QUEUES, Tie.FOREIGN, Tie.NONE));
    yaml.append(key(Role.ADMIN, OTHER_TENANT, Tie.NONE, Tie.FOREIGN));
    yaml.append(key(Role.ADMIN, OWN_QUEUES + OWN_TENANT, Tie.OWN, Tie.OWN));
    yaml.append(key(Role.ADMIN, OWN_QUEUES + OTHER_TENANT, Tie.OWN, Tie.FOREIGN));
    yaml.append(key(Role.ADMIN, FOREIGN_QUEUES + OWN_TENANT, Tie.FOREIGN, Tie.OWN));
    yaml.append(key(Role.ADMIN, FOREIGN_QUEUES + OTHER_TENANT, Tie.FOREIGN, Tie.FOREIGN));
    addTokens(tokens);
    server = TestServer.start(yaml.toString(), TestDatabase.create().environment());
    inventory = new Inventory(server, ADMIN);
  }

  private static void addTokens(TestTokens tokens) {
    var nil = "00000000-0000-0000-0000-000000000000";
    invalid("a token without tenant", Optional.of(tokens.token(claims -> claims)));
    invalid(
        "a token of the tenant null",
        Optional.of(tokens.token(claims -> claims.claim("tenant", null))));
    invalid(
        "a token of the nil tenant",
        Optional.of(tokens.token(claims -> claims.claim("tenant", nil))));
    invalid(
        "a token of a tenant that is a number",
        Optional.of(tokens.token(claims -> claims.claim("tenant", 1))));
    valid(
        "a token of a foreign tenant",
        tokens.token(claims -> claims.claim("tenant", FOREIGN_TENANT)),
        Role.ADMIN,
        Tie.NONE,
        Tie.FOREIGN);
    valid(
        "a token of the tenant",
        tokens.token(claims -> claims.claim("tenant", Inventory.TENANT)),
        Role.ADMIN,
        Tie.NONE,
        Tie.OWN);
  }

  private static void invalid(String name, Optional<String> secret) {
    CREDENTIALS.add(new Credential(name, secret, false, Set.of(), Tie.NONE, Tie.NONE));
  }

  private static void valid(String name, String secret, Role role, Tie queue, Tie tenant) {
    CREDENTIALS.add(new Credential(name, Optional.of(secret), true, Set.of(role), queue, tenant));
  }

  private static String key(Role role, String bindings, Tie queue, Tie tenant) {
    var key = ApiKeys.generate();
    valid("a key of " + role + bindings, key.key(), role, queue, tenant);
    return line("key-" + CREDENTIALS.size(), key, role, bindings);
  }

  private static String line(String name, ApiKeys.Generated key, Role role, String bindings) {
    return "    - { name: %s, sha256: %s, roles: [%s]%s }\n"
        .formatted(name, key.sha256(), role.key(), bindings);
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static List<Operation> operations() {
    var all = new ArrayList<Operation>();
    for (var path : server.get("/openapi.json").json().get("paths").properties()) {
      for (var method : path.getValue().properties()) {
        var node = method.getValue();
        all.add(
            new Operation(
                method.getKey().toUpperCase(Locale.ROOT),
                path.getKey(),
                Role.valueOf(node.get("x-role").asString().toUpperCase(Locale.ROOT)),
                node.get("x-scope").asString(),
                mediaType(node)));
      }
    }
    return all;
  }

  private static String mediaType(JsonNode operation) {
    var content = operation.at("/requestBody/content");
    return content.isMissingNode() ? "" : content.propertyNames().iterator().next();
  }

  /** Returns the outcome that the declared role and scope promise. */
  private static Outcome expected(Operation operation, Credential credential) {
    if (operation.role() == Role.ANYONE) {
      // The webhook needs a signature instead, and these calls have none.
      return operation.template().startsWith("/webhooks")
          ? Outcome.UNAUTHENTICATED
          : Outcome.SERVED;
    }
    if (!credential.valid()) {
      return Outcome.UNAUTHENTICATED;
    }
    if (!operation.role().isGrantedBy(credential.roles())) {
      return Outcome.FORBIDDEN;
    }
    if (credential.isUnbound()) {
      return Outcome.SERVED;
    }
    return switch (operation.scope()) {
      case "queue" -> credential.queue() == Tie.OWN ? Outcome.SERVED : Outcome.NOT_FOUND;
      case "queues" -> credential.queue() == Tie.OWN ? Outcome.SERVED : nothingOf(operation);
      case "tenant" -> ofTenant(operation, credential);
      case "stream" -> Outcome.NOT_FOUND;
      case "streams" -> nothingOf(operation);
      case "server" -> Outcome.FORBIDDEN;
      default -> throw new AssertionError("Say what the scope of " + operation + " allows");
    };
  }

  private static Outcome ofTenant(Operation operation, Credential credential) {
    return switch (credential.tenant()) {
      case OWN -> Outcome.SERVED;
      case NONE -> operation.namesAnObject() ? Outcome.NOT_FOUND : Outcome.FORBIDDEN;
      case FOREIGN ->
          operation.method().equals("GET") || operation.namesAnObject()
              ? nothingOf(operation)
              : Outcome.REFUSED;
    };
  }

  private static Outcome nothingOf(Operation operation) {
    return operation.namesAnObject() ? Outcome.NOT_FOUND : Outcome.EMPTY;
  }

  @Test
  void everyRouteAnswersEveryCredentialAsItsRoleAndScopeSay() {
    var operations = operations();
    assertThat(operations.stream().map(Operation::toString).toList())
        .contains("PUT /sessions", "GET /usages/proof", "POST /jobs/{name}/run", "GET /audit")
        .hasSizeGreaterThan(45);
    int calls = 0;
    var wrong = new ArrayList<String>();
    for (var operation : operations) {
      for (var credential : CREDENTIALS) {
        var wanted = expected(operation, credential);
        boolean hasBody = !operation.mediaType().isEmpty();
        var target =
            inventory.target(
                operation.method(), operation.template(), hasBody, credential.headers());
        var body = Optional.of(target.body()).filter(text -> hasBody);
        var reply = server.send(operation.method(), target.path(), body, credential.headers());
        calls++;
        if (!fits(wanted, reply)) {
          wrong.add("%s with %s is not %s: %s".formatted(operation, credential, wanted, reply));
        }
        if (reply.status() < 300) {
          inventory.used(operation.method(), operation.template());
        }
      }
    }
    System.out.printf(
        "%d calls: %d routes, %d credentials%n", calls, operations.size(), CREDENTIALS.size());
    assertThat(wrong).isEmpty();
    assertThat(calls).isEqualTo(operations.size() * CREDENTIALS.size()).isGreaterThan(1_400);
  }

  private static boolean fits(Outcome wanted, TestServer.Reply reply) {
    int status = reply.status();
    return switch (wanted) {
      case SERVED -> status >= 200 && status < 300;
      case EMPTY ->
          status >= 200
              && status < 300
              && Inventory.MARKS.stream().noneMatch(mark -> reply.body().contains(mark));
      case UNAUTHENTICATED -> reply.problem().equals("unauthenticated");
      case FORBIDDEN -> reply.problem().equals("forbidden");
      case NOT_FOUND -> status == 404 && !reply.problem().isEmpty();
      case REFUSED -> status == 403 || status == 404;
    };
  }

  @Test
  void aCallWithoutCredentialIsToldHowToShowOne() {
    assertThat(server.get("/queues").header("WWW-Authenticate")).startsWith("Bearer");
  }

  @Test
  void aParameterMayNeedARoleOfItsOwn() {
    var parameters = new ArrayList<String>();
    for (var path : server.get("/openapi.json").json().get("paths").properties()) {
      for (var parameter : path.getValue().at("/get/parameters")) {
        if (parameter.has("x-role")) {
          parameters.add(path.getKey() + "?" + parameter.get("name").asString());
        }
      }
    }
    assertThat(parameters).contains("/streams/{stream}/events?subscriber");
    for (var credential : CREDENTIALS) {
      if (credential.valid()
          && credential.isUnbound()
          && Role.READ.isGrantedBy(credential.roles())) {
        var reply =
            server.send(
                "GET",
                "/streams/mine/events?subscriber=matrix",
                Optional.empty(),
                credential.headers());
        assertThat(reply.status())
            .as("%s", credential)
            .isEqualTo(Role.CONSUME.isGrantedBy(credential.roles()) ? 200 : 403);
      }
    }
  }
}
