package dev.sessionkeeper.server.hostile;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Runs hostile clients beside a normal load against a server in a process of its own, and tells
 * what the normal load saw of them. Needs nothing but a JDK:
 *
 * <pre>
 * java -cp server/target/test-classes dev.sessionkeeper.server.hostile.HostileRun 10m ./keeper serve --port 18431 --data /tmp/hostile
 * </pre>
 */
public final class HostileRun {
  private static final Duration DRAIN = Duration.ofSeconds(90);

  private HostileRun() {}

  /**
   * What the normal load saw.
   *
   * @param failures calls that failed, by status and problem, or by exception
   * @param heapAfter bytes in use after a collection, as is heapBefore
   * @param buffered bytes of requests and answers that the server still holds at the end
   */
  record Report(
      Map<String, Long> attacks,
      int calls,
      Map<String, Long> failures,
      long p50Millis,
      long p99Millis,
      int sent,
      int received,
      long lost,
      long heapBefore,
      long heapAfter,
      long buffered) {
    String text() {
      return """
          attacks:          %s
          normal calls:     %d, p50 %d ms, p99 %d ms
          failed calls:     %s
          messages:         %d sent, %d received, %d lost
          heap:             %d MB before, %d MB after (each after a collection)
          held by requests: %d bytes
          """
          .formatted(
              attacks,
              calls,
              p50Millis,
              p99Millis,
              failures,
              sent,
              received,
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
    var report = run(List.of(args).subList(1, args.length), time);
    System.out.println(report.text());
    System.exit(report.lost() == 0 ? 0 : 1);
  }

  static Report run(List<String> command, Duration time) throws IOException, InterruptedException {
    var process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    try {
      var wire = new Wire(URI.create(addressIn(process.inputReader())));
      return attack(process, wire, time);
    } finally {
      process.destroy();
      if (!process.waitFor(40, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    }
  }

  private static Report attack(Process process, Wire wire, Duration time)
      throws IOException, InterruptedException {
    wire.call("PUT", NormalLoad.QUEUE, "{\"mode\":\"ORDERED\",\"maxDeliveryCount\":1000}");
    wire.call(
        "PUT",
        HostileClients.LARGE_QUEUE,
        "{\"mode\":\"UNORDERED\",\"maxDeliveryCount\":1000,\"lockDuration\":\"PT5S\"}");
    long before = heap(process, wire);
    var load = new NormalLoad(wire);
    var hostile = new HostileClients(wire);
    var threads = new ArrayList<Thread>();
    for (int i = 0; i < 4; i++) {
      int number = i;
      threads.add(Thread.ofVirtual().start(() -> load.send(number)));
      threads.add(Thread.ofVirtual().start(load::consume));
    }
    hostile.loops().forEach(loop -> threads.add(Thread.ofPlatform().daemon().start(loop)));
    LockSupport.parkNanos(time.toNanos());
    hostile.stop();
    load.stopSending();
    long start = System.nanoTime();
    while (!load.isDrained() && System.nanoTime() - start < DRAIN.toNanos()) {
      LockSupport.parkNanos(50_000_000);
    }
    load.stopConsuming();
    for (var thread : threads) {
      thread.join(30_000);
    }
    long after = heap(process, wire);
    return new Report(
        hostile.attacks(),
        load.calls(),
        load.failures(),
        load.percentileMillis(50),
        load.percentileMillis(99),
        load.sent(),
        load.received(),
        load.lost(),
        before,
        after,
        metric(wire, "keeper_http_buffered_bytes"));
  }

  /** The heap in use after a collection. */
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
