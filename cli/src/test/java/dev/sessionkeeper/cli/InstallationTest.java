package dev.sessionkeeper.cli;

import static dev.sessionkeeper.cli.Ran.keeper;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.server.KeeperServer;
import dev.sessionkeeper.server.ReadConfig;
import dev.sessionkeeper.server.config.ConfigSources;
import dev.sessionkeeper.server.security.ApiKeys;
import dev.sessionkeeper.time.TimeSource;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.JsonNodeFactory;

/** The life of an installation, by the command line: keys, audit, backup, bundle, contexts. */
@Tag("slow")
class InstallationTest {
  private static final String SECRET = "a-secret-that-must-not-leave-the-server";

  @TempDir static Path home;
  private static final ApiKeys.Generated admin = ApiKeys.generate();
  private static Path keyFile;
  private static KeeperServer server;

  @TempDir Path folder;

  @BeforeAll
  static void start() throws IOException {
    keyFile = Files.writeString(home.resolve("admin.key"), admin.key() + "\n");
    server = serve(home.resolve("data"));
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static KeeperServer serve(Path data) {
    var yaml =
        """
        security: { keys: [ { name: first, sha256: %s, roles: [admin] } ] }
        github: { secrets: ["env:HOOK"] }
        """
            .formatted(admin.sha256());
    var sources =
        new ConfigSources(
            "keeper.yaml",
            yaml,
            home,
            Map.of("HOOK", SECRET),
            Map.of("server.port", "0", "store.data", data.toString()));
    return KeeperServer.start(ReadConfig.from(sources), () -> sources, TimeSource.system());
  }

  private static Ran call(String... args) {
    return call(server, args);
  }

  private static Ran call(KeeperServer of, String... args) {
    var all = new ArrayList<>(List.of(args));
    all.addAll(List.of("--url", of.address(), "--key-file", keyFile.toString()));
    return keeper(all.toArray(String[]::new));
  }

  @Test
  void aKeyIsCreatedUsedListedAndRevoked() throws IOException {
    var made = call("keys", "create", "worker", "--role", "read,send", "--expires", "90d");
    assertThat(made.code()).as(made.err()).isZero();
    var file = Files.writeString(folder.resolve("worker.key"), made.out());
    Runnable works =
        () ->
            assertThat(
                    keeper("queues", "--url", server.address(), "--key-file", file.toString())
                        .code())
                .isZero();
    works.run();
    var listed = call("keys", "list", "-o", "json").json().path("keys").get(0);
    assertThat(listed.path("name").asString()).isEqualTo("worker");
    assertThat(listed.path("expiresAt").isString()).isTrue();
    assertThat(call("keys", "revoke", "worker").code()).as("asks first").isEqualTo(Exit.USAGE);
    works.run();
    assertThat(call("keys", "revoke", "worker", "--yes").code()).isZero();
    assertThat(keeper("queues", "--url", server.address(), "--key-file", file.toString()).code())
        .isEqualTo(Exit.FORBIDDEN);
  }

  @Test
  void aHoldOfMeteringIsNamedAndReleasedOnlyWithYes() {
    var hold =
        JsonNodeFactory.instance
            .objectNode()
            .put("since", "2026-01-01T00:00:00Z")
            .put("reason", "the clock of the database jumped");
    assertThat(Usage.Proof.held(hold))
        .contains("2026-01-01T00:00:00Z", "clock of the database jumped", "keeper usage release");
    assertThat(call("usage", "release").code()).isEqualTo(Exit.USAGE);
    var released = call("usage", "release", "--yes");
    assertThat(released.code()).as(released.err()).isZero();
    assertThat(released.out()).contains("Metering was not held.");
  }

  @Test
  void theFirstKeyIsMadeWithoutAServer() {
    var made = keeper("keys", "create", "ops", "--role", "admin", "--for-config");
    var lines = made.out().lines().toList();
    assertThat(lines.get(1)).contains(ApiKeys.digest(lines.get(0)));
    ReadConfig.from(new ConfigSources("keeper.yaml", lines.get(1), folder, Map.of(), Map.of()));
  }

  @Test
  void anExportOfTheAuditLogIsVerifiedWithoutAServer() throws IOException {
    call("queues", "create", "orders");
    call("queues", "create", "bills");
    var file = folder.resolve("audit.ndjson");
    assertThat(call("audit", "export", "--file", file.toString()).code()).isZero();
    var good = keeper("audit", "verify", file.toString(), "-o", "json");
    assertThat(good.code()).as(good.out() + good.err()).isZero();
    var last = good.json().path("lastHash").asString();
    assertThat(call("audit", "verify", "--last-hash", last).code()).isZero();

    var lines = Files.readAllLines(file);
    var away = keeper("audit", "export", "--file", file.toString(), "--url", "http://127.0.0.1:1");
    assertThat(away.code()).isEqualTo(Exit.UNAVAILABLE);
    assertThat(Files.readAllLines(file)).as("the older export stays").isEqualTo(lines);
    assertThat(folder).isDirectoryNotContaining("glob:**.part");
    var empty = Files.createFile(folder.resolve("empty.ndjson"));
    assertThat(keeper("audit", "verify", empty.toString()).out()).contains("nothing was checked");
    Files.write(file, lines.subList(0, lines.size() - 1));
    assertThat(keeper("audit", "verify", file.toString()).code()).isZero();
    assertThat(keeper("audit", "verify", file.toString(), "--last-hash", last).code()).isOne();

    Files.writeString(
        file,
        String.join("\n", lines).replaceFirst("\"target\":\"orders\"", "\"target\":\"others\""));
    var broken = keeper("audit", "verify", file.toString());
    assertThat(broken.code()).isOne();
    assertThat(broken.out()).contains("does not fit its hash");
  }

  @Test
  void aSupportBundleHasNoSecretAndNoMessage() throws IOException {
    call("queues", "create", "orders");
    call("send", "orders", "--session", "customer-42", "the-body-of-a-message");
    var file = folder.resolve("bundle.zip");
    var ran = call("support-bundle", "--file", file.toString());
    assertThat(ran.code()).as(ran.err()).isZero();
    try (var zip = new ZipFile(file.toFile())) {
      assertThat(zip.stream().map(entry -> entry.getName()))
          .contains("system.json", "metrics.txt", "queues.json", "jobs.json", "client.txt")
          .noneMatch(name -> name.endsWith(".missing"));
      for (var entry : zip.stream().toList()) {
        var text = new String(zip.getInputStream(entry).readAllBytes(), StandardCharsets.UTF_8);
        assertThat(text)
            .as(entry.getName())
            .doesNotContain(SECRET, admin.key(), "customer-42", "the-body-of-a-message");
      }
    }
  }

  @Test
  void aBackupBringsBackWhatWasThereAndADamagedOneChangesNothing() throws IOException {
    var data = folder.resolve("data");
    var backup = folder.resolve("backup.zip");
    try (var first = serve(data)) {
      call(first, "queues", "create", "orders");
      call(first, "send", "orders", "--session", "customer-42", "tea");
      var inUse = keeper("backup", backup.toString(), "--data", data.toString());
      assertThat(inUse.code()).isEqualTo(Exit.CONFIG);
      assertThat(inUse.err()).contains("in use");
    }
    var made = keeper("backup", backup.toString(), "--data", data.toString());
    assertThat(made.code()).as(made.err()).isZero();

    var refused = keeper("restore", backup.toString(), "--data", data.toString());
    assertThat(refused.err()).contains("is not empty");
    Files.move(data, folder.resolve("lost"));
    var bytes = Files.readAllBytes(backup);
    var cut = Files.write(folder.resolve("cut.zip"), Arrays.copyOf(bytes, bytes.length / 2));
    var damaged = keeper("restore", cut.toString(), "--data", data.toString());
    assertThat(damaged.code()).isEqualTo(Exit.CONFIG);
    assertThat(damaged.err()).contains("damaged");
    assertThat(data).doesNotExist();

    assertThat(keeper("restore", backup.toString(), "--data", data.toString()).code()).isZero();
    try (var again = serve(data)) {
      var sessions = call(again, "sessions", "orders", "-o", "json").json().path("sessions");
      assertThat(sessions.get(0).path("sessionId").asString()).isEqualTo("customer-42");
    }
  }

  @Test
  void aContextStandsForAddressAndKey() throws Exception {
    var contexts = folder.resolve("contexts.json");
    assertThat(
            process(
                contexts,
                "context",
                "set",
                "prod",
                "--url",
                server.address(),
                "--key-file",
                keyFile.toString()))
        .contains("Saved prod");
    assertThat(process(contexts, "queues")).doesNotContain("KEEPER_API_KEY", "did not answer");
    for (var list : List.of(List.of("context"), List.of("context", "list"))) {
      assertThat(process(contexts, list.toArray(String[]::new)))
          .contains("prod")
          .contains(server.address());
    }
    assertThat(process(contexts, "queues", "--context", "none"))
        .contains("There is no context none");
    assertThat(Files.readString(contexts)).doesNotContain(admin.key());
    assertThat(Files.getPosixFilePermissions(contexts)).hasSize(2);
    process(contexts, "context", "set", "old", "--url", "http://127.0.0.1:1");
    process(contexts, "context", "use", "old");
    assertThat(process(contexts, "queues"))
        .contains("connection refused", "The context old of " + contexts, "http://127.0.0.1:1")
        .contains("context use NAME");
    assertThat(process(contexts, "queues", "show", "none", "--context", "prod"))
        .contains("The context prod of " + contexts + " chose the server " + server.address());
    assertThat(process(contexts, "queues", "--url", "http://127.0.0.1:2"))
        .contains("connection refused")
        .doesNotContain("The context");
    process(contexts, "context", "delete", "prod");
    assertThat(process(contexts, "queues", "--url", server.address())).contains("KEEPER_API_KEY");
  }

  /** Runs a command in a process of its own, whose environment names the file of the contexts. */
  private static String process(Path contexts, String... args) throws Exception {
    var command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                "dev.sessionkeeper.cli.Keeper"));
    command.addAll(List.of(args));
    var builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("KEEPER_CONTEXTS", contexts.toString());
    List.of("KEEPER_URL", "KEEPER_API_KEY", "KEEPER_CONTEXT")
        .forEach(builder.environment()::remove);
    var process = builder.start();
    var said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    process.waitFor();
    return said;
  }

  @Test
  void completionAsksTheServerForQueueNames() {
    call("queues", "create", "orders");
    assertThat(call("queue-names").out().lines()).contains("orders");
    assertThat(keeper("generate-completion").out())
        .contains(
            "keeper queue-names", "\"sessions\"", "\"dead-letters list\"", "\"sessions resume\"");
    assertThat(Optional.of(keeper("man-page").out()).orElseThrow())
        .startsWith(".TH KEEPER 1")
        .contains(".SS keeper sessions resume", ".SH EXIT STATUS");
  }
}
