package dev.sessionkeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.server.KeeperServer;
import dev.sessionkeeper.server.ReadConfig;
import dev.sessionkeeper.server.config.ConfigSources;
import dev.sessionkeeper.time.TimeSource;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Runs the commands against a real server in this process. */
@Tag("slow")
class KeeperTest {
  private static KeeperServer server;
  private static String url;
  @TempDir Path folder;

  @BeforeAll
  static void start() {
    var sources =
        ConfigSources.of(
            Optional.empty(), Map.of(), Map.of("server.port", "0", "store.url", "memory"));
    server = KeeperServer.start(ReadConfig.from(sources), () -> sources, TimeSource.system());
    url = server.address();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Test
  void whatIsSentIsSeenInItsSession() {
    assertThat(run("queues", "create", "orders").code).isZero();
    var sent = run("send", "orders", "--session", "cust-42", "{\"item\":\"tea\"}", "plain words");
    assertThat(sent.code).isZero();
    assertThat(sent.out).contains("Sent 2 to orders.");
    assertThat(run("sessions", "orders").out).contains("cust-42", "ready").contains("BACKLOG");
    assertThat(run("queues").out).contains("orders", "ORDERED");
  }

  /** Amounts were once converted to floating point: 1.9903766331427E10, also in JSON. */
  @Test
  void amountsAreShownAsTheServerWroteThem() throws Exception {
    var proof =
        """
        {"tenants":[{"tenantObjectId":"t","activeMicros":19903766331.427000001,"ledger":123456789012345678.5,
         "pending":0.000000000,"differences":{"ledger":0.000000000,"batches":0}}]}
        """;
    var answering =
        com.sun.net.httpserver.HttpServer.create(
            new java.net.InetSocketAddress(java.net.InetAddress.getLoopbackAddress(), 0), 0);
    answering.createContext(
        "/usages/proof",
        exchange -> {
          var body = proof.getBytes(StandardCharsets.UTF_8);
          exchange.getResponseHeaders().set("Content-Type", "application/json");
          exchange.sendResponseHeaders(200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    answering.start();
    try {
      var address = "http://127.0.0.1:" + answering.getAddress().getPort();
      var shown = runRaw("usage", "proof", "--url", address);
      assertThat(shown.code).isZero();
      assertThat(shown.out)
          .contains("19903766331.427000001", "123456789012345678.5", "0.000000000");
      var json = runRaw("usage", "proof", "--url", address, "-o", "json");
      assertThat(json.code).isZero();
      assertThat(json.out).contains("19903766331.427000001", "123456789012345678.5", "0.000000000");
    } finally {
      answering.stop(0);
    }
  }

  @Test
  void theReferenceReceiverIsStartedByACommand() {
    var shown = runRaw("receiver", "--port", "0", "--seconds", "0");
    assertThat(shown.code).isZero();
    assertThat(shown.out).containsPattern("Receiving usage at http://127\\.0\\.0\\.1:\\d+/usages");
  }

  @Test
  void aSimulationIsTheSameForTheSameSeed() {
    var first = runRaw("simulate", "owners", "--seed", "7", "--messages", "200");
    assertThat(first.code).isZero();
    assertThat(first.out).contains("Seed 7:", "0 violations");
    assertThat(runRaw("simulate", "owners", "--seed", "7", "--messages", "200").out)
        .isEqualTo(first.out);
    assertThat(runRaw("simulate", "owners", "--seed", "7", "--runs", "20", "--messages", "50").out)
        .contains("20 seeds from 7: 0 broke an invariant.");
    assertThat(json(runRaw("simulate", "owners", "-o", "json")).path("violations")).isEmpty();
    assertThat(runRaw("simulate", "owners", "--owners", "0").code).isEqualTo(Exit.USAGE);
  }

  @Test
  void aSimulationOfNodesShowsTheShortestWayToAPlantedBug() {
    var same = runRaw("simulate", "nodes", "--seed", "3");
    assertThat(same.code).isZero();
    assertThat(same.out).contains("Seed 3:", "0 violations");
    assertThat(runRaw("simulate", "nodes", "--seed", "3").out).isEqualTo(same.out);
    assertThat(runRaw("simulate", "nodes", "--plant", "list").out).contains("retry-to-tail");

    var found = runRaw("simulate", "nodes", "--runs", "50", "--plant", "retry-to-tail");
    assertThat(found.code).isEqualTo(Exit.FAILED);
    assertThat(found.err)
        .contains("breaks I1", "What must happen for it", "Again: keeper simulate nodes --seed");
    assertThat(runRaw("simulate", "nodes", "--plant", "nonsense").code).isEqualTo(Exit.USAGE);
    assertThat(runRaw("simulate", "cursors", "--runs", "3").code).isEqualTo(Exit.OK);
    assertThat(runRaw("simulate", "usage", "--runs", "3").code).isEqualTo(Exit.OK);
    assertThat(runRaw("simulate", "nothing").code).isEqualTo(Exit.USAGE);
  }

  @Test
  void everyAnswerCanBeJson() {
    run("queues", "create", "as-json");
    var page = json(run("queues", "-o", "json"));
    assertThat(page.path("queues").isArray()).isTrue();
    assertThat(json(run("send", "as-json", "-s", "a", "-o", "json", "1")).path("messages").size())
        .isEqualTo(1);
    assertThat(json(run("doctor", "-o", "json")).path("checks").size()).isEqualTo(4);
  }

  @Test
  void manyOrLargeMessagesAreSentInSeveralRequests() {
    assertThat(Send.batches(List.of())).isEmpty();
    assertThat(Send.batches(Collections.nCopies(250, "x")).stream().map(List::size))
        .containsExactly(100, 100, 50);
    var large = Collections.nCopies(5, "x".repeat(1_500_000));
    assertThat(Send.batches(large).stream().map(List::size)).containsExactly(2, 2, 1);
    assertThat(Send.batches(List.of("x".repeat(9_000_000)))).hasSize(1);
  }

  @Test
  void eachLineOfStandardInputIsAMessage() {
    run("queues", "create", "lines");
    var before = System.in;
    System.setIn(new ByteArrayInputStream("one\n\ntwo\nthree\n".getBytes(StandardCharsets.UTF_8)));
    try {
      assertThat(run("send", "lines", "-s", "a").out).contains("Sent 3 to lines.");
    } finally {
      System.setIn(before);
    }
  }

  @Test
  void aPersonOnCallSetsASessionAsideAndBringsItBack() {
    run("queues", "create", "calls");
    run("send", "calls", "-s", "hot", "1", "2");
    assertThat(run("sessions", "park", "calls", "hot", "-r", "looks odd").code).isZero();
    assertThat(run("sessions", "calls", "--status", "parked").out).contains("hot", "looks odd");
    assertThat(run("sessions", "resume", "calls", "hot").code).isZero();
    assertThat(run("sessions", "dead-letter-all", "calls", "hot", "-y", "-r", "too old").code)
        .isZero();
    assertThat(run("dead-letters", "list", "calls").out).contains("too old");
    assertThat(run("dead-letters", "replay", "calls", "--all", "--dry-run").out)
        .contains("Would put back 2.");
    assertThat(run("dead-letters", "replay", "calls", "--session", "hot").out)
        .contains("Put back 2.");
    assertThat(run("dead-letters", "list", "calls").out).contains("No dead letters in calls.");
  }

  @Test
  void aReplayMustSayOfWhat() {
    var refused = run("dead-letters", "replay", "calls");
    assertThat(refused.code).isEqualTo(Exit.USAGE);
    assertThat(refused.err).contains("--session ID, --id MESSAGE or --all");
  }

  @Test
  void aRefusalIsOneSentenceAndNoStackTrace() {
    var refused = run("send", "no-such-queue", "-s", "a", "1");
    assertThat(refused.code).isEqualTo(Exit.FAILED);
    assertThat(refused.err).contains("no-such-queue").doesNotContain("\tat ");
    var named = run("queues", "create", "bad", "--mode", "SORTED");
    assertThat(named.err).contains("mode");
  }

  @Test
  void aServerThatDoesNotAnswerIsToldApart() {
    var nobody = runRaw("queues", "--url", "http://127.0.0.1:1");
    assertThat(nobody.code).isEqualTo(Exit.UNAVAILABLE);
    assertThat(nobody.err).contains("./keeper serve");
    assertThat(runRaw("doctor", "--url", "http://127.0.0.1:1").code).isEqualTo(Exit.FAILED);
  }

  @Test
  void aWrongCommandLineIsExplained() {
    assertThat(runRaw("explode").code).isEqualTo(Exit.USAGE);
    assertThat(runRaw("--version").out).contains("keeper");
  }

  @Test
  void anActSaysWhatItDid() {
    run("queues", "create", "acts");
    run("send", "acts", "-s", "hot", "1", "2", "3");
    assertThat(run("sessions", "pause", "acts", "hot").out).contains("Paused hot.");
    assertThat(run("sessions", "resume", "acts", "hot").out).contains("Resumed hot.");
    assertThat(run("sessions", "dead-letter-all", "acts", "hot", "--yes").out)
        .contains("3 messages of hot are dead letters now.");
    assertThat(json(run("sessions", "park", "acts", "hot", "-o", "json")).path("action").asString())
        .isEqualTo("park");
  }

  @Test
  void oneIdIsForOneMessage() {
    var refused = run("send", "orders", "-s", "a", "--id", "same", "1", "2");
    assertThat(refused.code).isEqualTo(Exit.USAGE);
    assertThat(refused.err).contains("--id is for one message");
  }

  @Test
  void oneOfSeveralServersIsEnough() {
    assertThat(runRaw("queues", "--url", "http://127.0.0.1:1," + url).code).isZero();
    assertThat(runRaw("queues", "--url", url + ",http://127.0.0.1:1").code).isZero();
  }

  @Test
  void anAddressThatIsNoneIsAWrongCommandLine() {
    var refused = runRaw("queues", "--url", "localhost:8080");
    assertThat(refused.code).isEqualTo(Exit.USAGE);
    assertThat(refused.err).contains("http://").doesNotContain("Exception");
  }

  @Test
  void allErrorsOfAConfigurationAreListedWithTheirPlace() throws Exception {
    var file =
        Files.writeString(folder.resolve("keeper.yaml"), "server: { port: x }\nsurprise: 1\n");
    var told = runRaw("check", file.toString(), "-o", "json");
    assertThat(told.code).isEqualTo(Exit.CONFIG);
    assertThat(told.out).contains("\"valid\" : false").contains("\"reason\"");
    var checked = runRaw("check", file.toString());
    assertThat(checked.code).isEqualTo(Exit.CONFIG);
    assertThat(checked.err).contains(":1:", "port", ":2:", "surprise", "2 errors found in ");
    Files.writeString(file, "server: { port: 9999 }\n");
    assertThat(runRaw("check", file.toString()).code).isZero();
  }

  @Test
  void theBenchHandlesEverythingItSent() {
    var result = json(run("bench", "--messages", "500", "--sessions", "10", "-o", "json"));
    assertThat(result.path("consumedPerSecond").asLong()).isPositive();
  }

  @Test
  void theDemoEndsWithAVerdict() {
    var demo = run("demo", "--sessions", "6", "--messages", "8", "--consumers", "3");
    assertThat(demo.err).contains("Order held: 48 of 48 completed").contains("0 violations");
    assertThat(demo.code).isZero();
  }

  private record Result(int code, String out, String err) {}

  private static Result run(String... args) {
    var line = new String[args.length + 2];
    System.arraycopy(args, 0, line, 0, args.length);
    line[args.length] = "--url";
    line[args.length + 1] = url;
    return runRaw(line);
  }

  private static Result runRaw(String... args) {
    var out = new ByteArrayOutputStream();
    var err = new ByteArrayOutputStream();
    var outBefore = System.out;
    var errBefore = System.err;
    System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
    System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
    try {
      int code = Keeper.run(args);
      return new Result(
          code, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    } finally {
      System.setOut(outBefore);
      System.setErr(errBefore);
    }
  }

  private static JsonNode json(Result result) {
    assertThat(result.code).as(result.err).isZero();
    return JsonMapper.builder().build().readTree(result.out);
  }
}
