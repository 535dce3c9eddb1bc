package dev.sessionkeeper.server.clients;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.client.KeeperClient;
import dev.sessionkeeper.client.ProblemException;
import dev.sessionkeeper.client.QueueClient.Outgoing;
import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.testkit.CheckConservation;
import dev.sessionkeeper.testkit.CheckOrder;
import dev.sessionkeeper.testkit.CheckOwners;
import dev.sessionkeeper.testkit.History;
import dev.sessionkeeper.testkit.Violation;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Workers in other languages on two servers of one database; workers and servers are killed, some
 * handlers fail. The workers append what their handlers see to one file, and the checkers of the
 * test kit judge it.
 *
 * <pre>
 *  java -cp &lt;test class path&gt; dev.sessionkeeper.server.clients.HttpWorkersRun 10000 200 12
 * </pre>
 */
final class HttpWorkersRun {
  private static final String QUEUE = "worked";
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  private final int messages;
  private final int sessions;
  private final int kills;
  private final History history = new History();
  private final Random random = new Random(21);
  private final HttpClient http = HttpClient.newHttpClient();

  HttpWorkersRun(int messages, int sessions, int kills) {
    this.messages = messages;
    this.sessions = sessions;
    this.kills = kills;
  }

  /** The outcome of a run. */
  record Report(
      int messages, int handled, int again, int failed, int kills, List<Violation> violations) {}

  /** A worker process, and how to start it. */
  private static final class WorkerProcess {
    final String name;
    final List<String> command;
    Process process;

    WorkerProcess(String name, List<String> command) {
      this.name = name;
      this.command = command;
    }
  }

  Report run(List<List<String>> workers) throws Exception {
    var log = Files.createTempFile("history", ".jsonl");
    var database = TestDatabase.create();
    try (var first = ServerProcess.serving(database.environment());
        var second = ServerProcess.serving(database.environment())) {
      var servers = List.of(first, second);
      declare(servers);
      var running = new ArrayList<WorkerProcess>();
      for (int i = 0; i < workers.size(); i++) {
        var worker = new WorkerProcess("w" + i, workers.get(i));
        launch(worker, servers, log);
        running.add(worker);
      }
      try {
        var sending = CompletableFuture.runAsync(() -> send(servers));
        int killed = harm(servers, running, log, sending);
        sending.join();
        awaitEmpty(servers);
        return report(log, killed);
      } finally {
        running.forEach(worker -> worker.process.destroyForcibly());
      }
    } finally {
      Files.deleteIfExists(log);
    }
  }

  private void declare(List<ServerProcess> servers) {
    var body = "{\"mode\":\"ORDERED\",\"lockDuration\":\"PT5S\",\"maxDeliveryCount\":100}";
    until(
        () -> {
          var request =
              HttpRequest.newBuilder(URI.create(servers.get(0).address() + "/queues/" + QUEUE))
                  .header("Content-Type", "application/json")
                  .PUT(HttpRequest.BodyPublishers.ofString(body))
                  .build();
          return http.send(request, HttpResponse.BodyHandlers.ofString()).statusCode() < 300;
        });
    until(() -> depth(servers.get(1)) == 0);
  }

  private void launch(WorkerProcess worker, List<ServerProcess> servers, Path log)
      throws Exception {
    var environment =
        Map.of(
            "KEEPER_SERVERS",
            String.join(",", servers.stream().map(ServerProcess::address).toList()),
            "KEEPER_QUEUE",
            QUEUE,
            "KEEPER_HISTORY",
            log.toString(),
            "KEEPER_WORKER",
            worker.name);
    worker.process =
        Tools.start(Path.of("").toAbsolutePath(), environment, Optional.empty(), worker.command);
  }

  private void send(List<ServerProcess> servers) {
    var client =
        KeeperClient.of(servers.stream().map(server -> URI.create(server.address())).toList());
    int perSession = messages / sessions;
    for (int from = 0; from < perSession; from += 5) {
      for (int session = 0; session < sessions; session++) {
        var id = "session-" + session;
        var batch = new ArrayList<Outgoing>();
        for (int n = from; n < Math.min(from + 5, perSession); n++) {
          batch.add(Outgoing.text(id, "" + n).withId(id + "#" + n));
        }
        send(client, SessionId.of(id), batch);
      }
    }
  }

  /**
   * Sends until a server has confirmed the message; a duplicate was stored by an earlier attempt.
   */
  private void send(KeeperClient client, SessionId session, List<Outgoing> batch) {
    while (true) {
      try {
        for (var sent : client.queue(QUEUE).send(batch)) {
          history.sent(
              session, new SendOutcome.Stored(MessageId.of(sent.messageId()), sent.sequence()));
        }
        return;
      } catch (KeeperException.OutcomeUnknown | KeeperException.Unavailable e) {
        LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
      } catch (ProblemException e) {
        if (e.status() != 503) {
          throw e;
        }
      }
    }
  }

  /** Kills workers and servers in turn while there is work. */
  private int harm(
      List<ServerProcess> servers,
      List<WorkerProcess> workers,
      Path log,
      CompletableFuture<Void> sending)
      throws Exception {
    int killed = 0;
    for (int i = 0; i < kills && (!sending.isDone() || depthOfAny(servers) > 0); i++) {
      LockSupport.parkNanos(Duration.ofMillis(700 + random.nextInt(800)).toNanos());
      if (i % 3 == 2) {
        servers.get(random.nextInt(servers.size())).killAndRestart();
      } else {
        var worker = workers.get(random.nextInt(workers.size()));
        worker.process.destroyForcibly().waitFor();
        Files.writeString(
            log,
            "{\"kind\":\"killed\",\"worker\":\"" + worker.name + "\"}\n",
            java.nio.file.StandardOpenOption.APPEND);
        launch(worker, servers, log);
      }
      killed++;
    }
    return killed;
  }

  private void awaitEmpty(List<ServerProcess> servers) {
    until(() -> depthOfAny(servers) == 0);
  }

  private long depthOfAny(List<ServerProcess> servers) throws Exception {
    for (var server : servers) {
      try {
        return depth(server);
      } catch (java.io.IOException e) {
        // This server was killed a moment ago; the other one answers.
      }
    }
    return Long.MAX_VALUE;
  }

  private long depth(ServerProcess server) throws Exception {
    var request =
        HttpRequest.newBuilder(URI.create(server.address() + "/queues/" + QUEUE))
            .timeout(Duration.ofSeconds(5))
            .build();
    var response = http.send(request, HttpResponse.BodyHandlers.ofString());
    return response.statusCode() == 200
        ? JsonMapper.shared().readTree(response.body()).get("depth").asLong()
        : Long.MAX_VALUE;
  }

  @FunctionalInterface
  private interface Question {
    boolean isTrue() throws Exception;
  }

  private static void until(Question question) {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (System.nanoTime() < end) {
      try {
        if (question.isTrue()) {
          return;
        }
      } catch (Exception e) {
        // A server that starts, or was killed, does not answer yet.
      }
      LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
    }
    throw new AssertionError("The run did not end in " + PATIENCE);
  }

  private Report report(Path log, int killed) throws Exception {
    var open = new HashMap<String, Set<List<String>>>();
    Set<String> handled = new HashSet<>();
    int again = 0;
    int failed = 0;
    for (var line : Files.readAllLines(log)) {
      var entry = JsonMapper.shared().readTree(line);
      var mine = open.computeIfAbsent(entry.get("worker").asString(), name -> new HashSet<>());
      switch (entry.get("kind").asString()) {
        case "started" -> {
          mine.add(hold(entry));
          history.started(session(entry), entry.get("epoch").asLong(), delivery(entry));
        }
        case "ended" -> {
          boolean isDone = entry.get("completed").asBoolean();
          history.ended(
              session(entry),
              entry.get("epoch").asLong(),
              delivery(entry),
              isDone ? Settlement.complete() : Settlement.retryAfter(Duration.ZERO, "on purpose"));
          failed += isDone ? 0 : 1;
          again += isDone && !handled.add(entry.get("id").asString()) ? 1 : 0;
        }
        case "lost" -> history.lost(session(entry), entry.get("epoch").asLong());
        case "killed" -> {
          // A killed worker cannot report the end of its leases, so the run does.
          mine.forEach(
              hold -> history.lost(SessionId.of(hold.get(0)), Long.parseLong(hold.get(1))));
          mine.clear();
        }
        default -> throw new AssertionError(line);
      }
    }
    var events = history.events();
    var violations = new ArrayList<Violation>();
    violations.addAll(CheckOrder.of(events));
    violations.addAll(CheckOwners.of(events));
    violations.addAll(CheckConservation.of(events, Set.of(), Set.of()));
    return new Report(messages, handled.size(), again, failed, killed, violations);
  }

  private static List<String> hold(JsonNode entry) {
    return List.of(entry.get("session").asString(), entry.get("epoch").asString());
  }

  private static SessionId session(JsonNode entry) {
    return SessionId.of(entry.get("session").asString());
  }

  private static Delivery delivery(JsonNode entry) {
    var message =
        new Message(
            MessageId.of(entry.get("id").asString()),
            Optional.of(session(entry)),
            Payload.text(""),
            Map.of(),
            Optional.empty(),
            Optional.empty());
    return new Delivery(
        message, entry.get("sequence").asLong(), entry.get("attempt").asInt(), Instant.EPOCH);
  }

  /** Returns the commands of the workers that this machine can run. */
  static List<List<String>> workers(String python) {
    var node = List.of("node", Tools.TYPESCRIPT.resolve("test/worker.mjs").toString());
    var snake = List.of(python, Tools.PYTHON.resolve("tests/worker.py").toString());
    return List.of(node, snake, node, snake);
  }

  public static void main(String[] arguments) throws Exception {
    Tools.requireNode();
    Tools.buildTypeScript();
    var run =
        new HttpWorkersRun(
            Integer.parseInt(arguments[0]),
            Integer.parseInt(arguments[1]),
            Integer.parseInt(arguments[2]));
    var report = run.run(workers(Tools.requirePython()));
    System.out.println(report);
    System.exit(report.violations().isEmpty() && report.handled() == report.messages() ? 0 : 1);
  }
}
