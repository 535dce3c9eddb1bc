package dev.sessionkeeper.server.hostile;

import dev.sessionkeeper.embedded.EmbeddedPostgres;
import dev.sessionkeeper.server.security.ApiKeys;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Runs hostile clients beside a normal load against a server in a process of its own, and reports
 * how the normal load fared. The server's data is in a PostgreSQL of this process, where another
 * application's commits hang ({@link HungCommits}). The server's credentials are those of {@link
 * #CONFIG}, in a file whose path becomes the last word of the command. With the class path of the
 * tests:
 *
 * <pre>
 *  java -cp … dev.sessionkeeper.server.hostile.HostileRun 10m ./keeper serve --port 18431 --config
 * </pre>
 */
public final class HostileRun {
  static final String TENANT = "8d2a4c1e-1111-4222-8333-444455556666";
  private static final ApiKeys.Generated ADMIN = ApiKeys.generate();
  private static final ApiKeys.Generated APPLICATION = ApiKeys.generate();
  private static final ApiKeys.Generated INSIDER = ApiKeys.generate();
  private static final ApiKeys.Generated OUTSIDER = ApiKeys.generate();

  /** The credentials of the run, as sections of the server's configuration. */
  static final String CONFIG =
      """
      cors: { origins: ["https://app.example"] }
      security:
        keys:
          - { name: admin, sha256: %s, roles: [admin] }
          - { name: application, sha256: %s, roles: [read, send, consume] }
          - { name: insider, sha256: %s, roles: [send, consume], queues: [normal] }
          - { name: outsider, sha256: %s, roles: [read, send, consume, operate], queues: [large, evil], tenant: %s }
      """
          .formatted(
              ADMIN.sha256(), APPLICATION.sha256(), INSIDER.sha256(), OUTSIDER.sha256(), TENANT);

  private static final Duration DRAIN = Duration.ofSeconds(90);

  private HostileRun() {}

  /**
   * The result of a run, as the normal load saw it.
   *
   * @param successes of attackers, where there must be none
   * @param failures calls that failed, by status and problem, or by exception
   * @param heapAfter bytes of heap in use after a collection, as is heapBefore
   * @param buffered bytes of requests and answers that the server still holds at the end
   */
  record Report(
      Map<String, Long> attacks,
      long successes,
      int calls,
      Map<String, Long> failures,
      long p50Millis,
      long p99Millis,
      int sent,
      int received,
      long events,
      long misplaced,
      long lost,
      long heapBefore,
      long heapAfter,
      long buffered) {

    /**
     * Returns whether no message was lost and the normal load saw no error but declared overload.
     */
    boolean isGood() {
      return lost == 0
          && successes == 0
          && misplaced == 0
          && buffered == 0
          && failures.keySet().stream().allMatch(kind -> kind.equals("503 overloaded"));
    }

    String text() {
      return """
      attacks:          %s
      of them succeeded: %d
      normal calls:     %d, p50 %d ms, p99 %d ms
      failed calls:     %s
      messages:         %d sent, %d received; %d events, %d out of place; %d lost
      heap:             %d MB before, %d MB after (each after a collection)
      held by requests: %d bytes
      """
          .formatted(
              attacks,
              successes,
              calls,
              p50Millis,
              p99Millis,
              failures,
              sent,
              received,
              events,
              misplaced,
              lost,
              heapBefore >> 20,
              heapAfter >> 20,
              buffered);
    }
  }

  public static void main(String[] args) throws Exception {
    if (args.length < 2) {
      System.err.println("HostileRun <20s|10m> <command that starts a server> ...");
      System.exit(64);
    }
    var time = Duration.parse("PT" + args[0]);
    try (var postgres = EmbeddedPostgres.temporary()) {
      var config = Files.createTempFile("hostile", ".yaml");
      Files.writeString(config, CONFIG);
      var command = new ArrayList<>(List.of(args).subList(1, args.length));
      command.add(config.toString());
      var report = run(command, time, Optional.of(postgres));
      Files.delete(config);
      System.out.println(report.text());
      System.exit(report.isGood() ? 0 : 1);
    }
  }

  /**
   * Runs the attacks and the normal load.
   *
   * @param postgres the store of the server, which other applications use too; empty for the store
   *     that the command names
   */
  static Report run(List<String> command, Duration time, Optional<EmbeddedPostgres> postgres)
      throws IOException, InterruptedException {
    var starting = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
    postgres.ifPresent(
        store -> {
          starting.environment().put("KEEPER_STORE_URL", store.jdbcUrl());
          starting.environment().put("KEEPER_STORE_USER", store.user());
          starting.environment().put("KEEPER_STORE_PASSWORD", store.password());
        });
    var process = starting.start();
    try {
      var address = URI.create(addressIn(process.inputReader()));
      return attack(process, address, time, postgres);
    } finally {
      process.destroy();
      if (!process.waitFor(40, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    }
  }

  private static Report attack(
      Process process, URI address, Duration time, Optional<EmbeddedPostgres> postgres)
      throws IOException, InterruptedException {
    var wire = new Wire(address, ADMIN.key());
    var application = new Wire(address, APPLICATION.key());
    wire.call("PUT", "/queues/evil", "{\"mode\":\"ORDERED\"}");
    wire.call("PUT", NormalLoad.QUEUE, "{\"mode\":\"ORDERED\",\"maxDeliveryCount\":1000}");
    wire.call(
        "PUT",
        HostileClients.LARGE_QUEUE,
        "{\"mode\":\"UNORDERED\",\"maxDeliveryCount\":1000,\"lockDuration\":\"PT5S\"}");
    long before = heap(process, wire);
    var load = new NormalLoad(application);
    var hostile =
        new HostileClients(
            new Wire(address, INSIDER.key()), new Wire(address, OUTSIDER.key()), load::leaseShown);
    var threads = new ArrayList<Thread>();
    for (int i = 0; i < 4; i++) {
      int number = i;
      threads.add(Thread.ofVirtual().start(() -> load.send(number)));
      threads.add(
          Thread.ofVirtual()
              .start(
                  () -> {
                    if (number % 2 == 0) {
                      load.consume();
                    } else {
                      load.consumeInRounds(number);
                    }
                  }));
    }
    threads.add(Thread.ofVirtual().start(load::publish));
    threads.add(Thread.ofVirtual().start(load::subscribe));
    hostile.loops().forEach(loop -> threads.add(Thread.ofPlatform().daemon().start(loop)));
    var hung = postgres.map(store -> new HungCommits(store, application));
    hung.ifPresent(
        it -> it.loops().forEach(loop -> threads.add(Thread.ofPlatform().daemon().start(loop))));
    LockSupport.parkNanos(time.toNanos());
    hostile.stop();
    hung.ifPresent(HungCommits::stop);
    load.stopSending();
    long start = System.nanoTime();
    while (!load.isDrained() && System.nanoTime() - start < DRAIN.toNanos()) {
      LockSupport.parkNanos(50_000_000);
    }
    load.stopConsuming();
    for (var thread : threads) {
      thread.join(30_000);
    }
    hung.ifPresent(HungCommits::close);
    var attacks = new TreeMap<>(hostile.attacks());
    hung.ifPresent(it -> attacks.putAll(it.attacks()));
    long after = heap(process, wire);
    return new Report(
        attacks,
        hostile.successes(),
        load.calls(),
        load.failures(),
        load.percentileMillis(50),
        load.percentileMillis(99),
        load.sent(),
        load.received(),
        load.published(),
        load.misplaced(),
        load.lost(),
        before,
        after,
        metric(wire, "keeper_http_buffered_bytes"));
  }

  /** Returns the heap in use after a collection. */
  private static long heap(Process process, Wire wire) throws IOException, InterruptedException {
    var jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
    new ProcessBuilder(jcmd, "" + process.pid(), "GC.run")
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .redirectError(ProcessBuilder.Redirect.DISCARD)
        .start()
        .waitFor();
    return metric(wire, "keeper_heap_used_bytes");
  }

  private static long metric(Wire wire, String name) throws IOException, InterruptedException {
    var lines = wire.call("GET", "/metrics", "").body().lines().toList();
    return lines.stream()
        .filter(line -> line.startsWith(name + " "))
        .map(line -> (long) Double.parseDouble(line.substring(name.length() + 1)))
        .findFirst()
        .orElse(-1L);
  }

  private static String addressIn(BufferedReader lines) throws IOException {
    for (var line = lines.readLine(); line != null; line = lines.readLine()) {
      if (line.contains("listens on ")) {
        Thread.ofVirtual().start(() -> lines.lines().forEach(rest -> {}));
        return line.substring(line.indexOf("http"));
      }
    }
    throw new IOException("The server ended before it listened");
  }
}
