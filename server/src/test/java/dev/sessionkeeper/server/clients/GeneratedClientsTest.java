package dev.sessionkeeper.server.clients;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.server.TestServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/** Clients that a generator created from the API description call every route of a server. */
@Tag("slow")
class GeneratedClientsTest {
  private static final String SECRET = "the secret of the webhook";

  /** The least number of routes whose answer is JSON with a schema. */
  private static final int LEAST_TYPED_ROUTES = 70;

  private static final String CONFIG =
      """
      github: { secrets: ["env:GITHUB_SECRET"] }
      bots: [ { name: reviewer, events: ["pull_request.*"] } ]
      usage: { interval: 1s }
      """;

  private static TestServer server;

  @TempDir Path folder;

  @BeforeAll
  static void start() {
    var environment = new java.util.HashMap<>(TestDatabase.create().environment());
    environment.put("GITHUB_SECRET", SECRET);
    server = TestServer.start(CONFIG, environment);
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private Path generate(String language, String properties) throws Exception {
    var jar = Tools.requireGenerator();
    var description = folder.resolve("openapi.json");
    Files.writeString(description, server.get("/openapi.json").body());
    var generated = folder.resolve(language);
    var ended =
        Tools.run(
            folder,
            Map.of(),
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-jar",
            jar.toString(),
            "generate",
            "-i",
            description.toString(),
            "-g",
            language,
            "-o",
            generated.toString(),
            "--additional-properties=" + properties);
    assertThat(ended.code()).as(ended.output()).isZero();
    return generated;
  }

  /** Python types read every answer; TypeScript types fit the same answers. */
  @Test
  void generatedClientsCallEveryRouteAndUnderstandTheAnswers() throws Exception {
    var python = Tools.requirePythonForGenerated();
    var generated = generate("python", "packageName=keeper_api");
    var answers = folder.resolve("answers");
    var ended =
        Tools.run(
            Tools.PYTHON,
            Map.of(
                "KEEPER_SERVERS",
                "http://127.0.0.1:" + server.port(),
                "KEEPER_GITHUB_SECRET",
                SECRET,
                "KEEPER_GENERATED",
                generated.toString(),
                "KEEPER_RECORD",
                answers.toString()),
            python,
            "tests/every_route.py");
    assertThat(ended.code()).as(ended.output()).isZero();
    assertThat(ended.output()).contains("routes were called");

    Tools.requireNode();
    var typed = Files.createTempDirectory(Tools.TYPESCRIPT, "typed-");
    try {
      Files.copy(Tools.TYPESCRIPT.resolve("src/api.d.ts"), typed.resolve("api.d.ts"));
      ClientsTest.copyClient(typed);
      var recorded = Files.readAllLines(answers).stream().map(GeneratedClientsTest::read).toList();
      assertThat(recorded.stream().map(each -> each.method() + each.path()).distinct().count())
          .isGreaterThanOrEqualTo(LEAST_TYPED_ROUTES);
      var compiled = ClientsTest.compile(typed.resolve("answers.ts"), recorded);
      assertThat(compiled.code()).as(compiled.output()).isZero();
    } finally {
      try (var files = Files.walk(typed)) {
        files.sorted(java.util.Comparator.reverseOrder()).forEach(path -> path.toFile().delete());
      }
    }
  }

  private static ClientsTest.Recorded read(String line) {
    var json = JsonMapper.shared().readTree(line);
    return new ClientsTest.Recorded(
        json.get("method").stringValue(),
        json.get("path").stringValue(),
        json.get("status").intValue(),
        json.get("body").toString());
  }
}
