package dev.sessionkeeper.server.clients;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.server.TestServer;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The API description generates types that fit the answers, and the clients work against servers.
 */
class ClientsTest {
  private static TestServer server;
  private static TestServer neighbour;

  @BeforeAll
  static void start() {
    var database = TestDatabase.create();
    server = TestServer.start("", database.environment());
    neighbour = TestServer.start("", database.environment());
  }

  @AfterAll
  static void stop() {
    server.close();
    neighbour.close();
  }

  private static Map<String, String> servers() {
    return Map.of(
        "KEEPER_SERVERS",
        "http://127.0.0.1:%d,http://127.0.0.1:%d".formatted(server.port(), neighbour.port()));
  }

  private static void writeDescription() throws Exception {
    Files.writeString(Tools.TYPESCRIPT.resolve("openapi.json"), server.get("/openapi.json").body());
  }

  @Test
  void theDescriptionIsCleanForRedocly() throws Exception {
    Tools.requireNode();
    writeDescription();
    var lint =
        Tools.run(
            Tools.TYPESCRIPT, Map.of(), "npx", "--no-install", "redocly", "lint", "openapi.json");
    assertThat(lint.code()).as(lint.output()).isZero();
    assertThat(lint.output()).contains("is valid").doesNotContain("warning.").doesNotContain("[1]");
  }

  /** A real answer, to be assigned to the type that the description generates. */
  record Recorded(String method, String path, int status, String body) {
    String typed(int number) {
      return "export const answer%d: paths[\"%s\"][\"%s\"][\"responses\"][%d][\"content\"][\"application/json\"] = %s;\n"
          .formatted(number, path, method, status, body);
    }
  }

  private static Recorded record(
      List<Recorded> all, String method, String template, String path, String body) {
    var reply =
        server.send(
            method.toUpperCase(java.util.Locale.ROOT),
            path,
            java.util.Optional.of(body).filter(text -> !text.isEmpty()));
    assertThat(reply.status()).as(reply.body()).isBetween(200, 299);
    var recorded = new Recorded(method, template, reply.status(), reply.body());
    all.add(recorded);
    return recorded;
  }

  private static List<Recorded> answers() {
    var all = new ArrayList<Recorded>();
    var put =
        "{\"userObjectId\":\"11111111-1111-4111-8111-111111111111\",\"tenantObjectId\":\"22222222-2222-4222-8222-222222222222\",\"capacityId\":\"33333333-3333-4333-8333-333333333333\",\"sessionKind\":1}";
    record(all, "put", "/sessions", "/sessions", put);
    record(all, "put", "/sessions", "/sessions", put);
    record(all, "get", "/sessions", "/sessions", "");
    record(all, "put", "/queues/{queue}", "/queues/typed", "{\"mode\":\"ORDERED\"}");
    record(all, "get", "/queues/{queue}", "/queues/typed", "");
    record(all, "get", "/queues", "/queues", "");
    var send =
        "{\"messages\":[{\"sessionId\":\"s\",\"body\":{\"a\":1}},{\"sessionId\":\"t\",\"bodyText\":\"x\"}]}";
    record(all, "post", "/queues/{queue}/messages", "/queues/typed/messages", send);
    record(all, "get", "/queues/{queue}/sessions", "/queues/typed/sessions", "");
    var work = "{\"requestId\":\"typed\",\"take\":{\"sessions\":2,\"wait\":\"PT5S\"}}";
    record(all, "post", "/queues/{queue}/work", "/queues/typed/work", work);
    record(all, "get", "/queues/{queue}/dead-letters", "/queues/typed/dead-letters", "");
    record(all, "post", "/streams/{stream}/events", "/streams/typed/events", "{\"data\":1}");
    record(
        all,
        "post",
        "/streams/{stream}/events/batch",
        "/streams/typed/events/batch",
        "{\"events\":[{\"data\":1,\"eventId\":\"e\"}]}");
    record(all, "get", "/streams", "/streams", "");
    record(
        all,
        "put",
        "/streams/{stream}/subscribers/{subscriber}",
        "/streams/typed/subscribers/a",
        "{}");
    record(all, "get", "/streams/{stream}/subscribers", "/streams/typed/subscribers", "");
    record(all, "post", "/streams/{stream}/tokens", "/streams/typed/tokens", "{}");
    record(all, "get", "/usages", "/usages", "");
    record(all, "get", "/usages/batches", "/usages/batches", "");
    record(all, "get", "/usages/proof", "/usages/proof", "");
    record(all, "get", "/jobs", "/jobs", "");
    record(all, "get", "/audit", "/audit", "");
    record(all, "get", "/credentials", "/credentials", "");
    record(all, "get", "/events", "/events", "");
    record(all, "get", "/health/live", "/health/live", "");
    return all;
  }

  @Test
  void generatedTypesFitTheAnswersOfAServer() throws Exception {
    Tools.requireNode();
    writeDescription();
    var folder = Files.createTempDirectory(Tools.TYPESCRIPT, "typed-");
    try {
      var types = folder.resolve("api.d.ts");
      var generated =
          Tools.run(
              Tools.TYPESCRIPT,
              Map.of(),
              "npx",
              "--no-install",
              "openapi-typescript",
              "openapi.json",
              "-o",
              types.toString());
      assertThat(generated.code()).as(generated.output()).isZero();
      assertThat(Files.readString(Tools.TYPESCRIPT.resolve("src/api.d.ts")))
          .as("src/api.d.ts is not of today: npm run generate")
          .isEqualTo(Files.readString(types));
      copyClient(folder);
      var answers = answers();
      var file = folder.resolve("answers.ts");
      assertThat(compile(file, answers).code()).as(compile(file, answers).output()).isZero();

      // The check itself: a field that no schema names does not compile.
      var first = answers.getFirst();
      var spoiled = first.body().replaceFirst("\\{", "{\"surprise\":1,");
      var wrong = new Recorded(first.method(), first.path(), first.status(), spoiled);
      assertThat(compile(file, List.of(wrong)).code()).isNotZero();
    } finally {
      try (var files = Files.walk(folder)) {
        files.sorted(java.util.Comparator.reverseOrder()).forEach(path -> path.toFile().delete());
      }
    }
  }

  /** The client itself must compile with today's types, whatever types it was built with. */
  static void copyClient(java.nio.file.Path folder) throws Exception {
    try (var sources = Files.list(Tools.TYPESCRIPT.resolve("src"))) {
      for (var source : sources.filter(file -> !file.endsWith("api.d.ts")).toList()) {
        Files.copy(source, folder.resolve(source.getFileName()));
      }
    }
  }

  static Tools.Ended compile(java.nio.file.Path file, List<Recorded> answers) throws Exception {
    var text = new StringBuilder("import type { paths } from \"./api.js\";\n");
    for (int i = 0; i < answers.size(); i++) {
      text.append(answers.get(i).typed(i));
    }
    Files.writeString(file, text.toString());
    return Tools.run(
        Tools.TYPESCRIPT,
        Map.of(),
        "npx",
        "--no-install",
        "tsc",
        "--strict",
        "--noEmit",
        "--module",
        "nodenext",
        "--target",
        "es2022",
        "--lib",
        "es2023,dom,dom.asynciterable",
        file.toString(),
        file.resolveSibling("index.ts").toString());
  }

  @Test
  void theTypeScriptClientPassesItsTestsAgainstTwoServers() {
    Tools.requireNode();
    Tools.buildTypeScript();
    var ended = Tools.run(Tools.TYPESCRIPT, servers(), "node", "--test", "test/client.test.mjs");
    assertThat(ended.code()).as(ended.output()).isZero();
  }

  @Test
  void thePythonClientPassesItsTestsAgainstTwoServers() {
    var python = Tools.requirePython();
    var ended =
        Tools.run(Tools.PYTHON, servers(), python, "-m", "unittest", "tests/test_client.py");
    assertThat(ended.code()).as(ended.output()).isZero();
  }
}
