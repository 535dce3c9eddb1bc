package dev.sessionkeeper.benchmarks.registry;

import dev.sessionkeeper.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.regex.Pattern;

/** Runs a script with pgbench, which must be on the path. */
final class Pgbench {
  private static final Pattern TPS = Pattern.compile("tps = ([0-9.]+)");

  private final EmbeddedPostgres postgres;
  private final int clients;
  private final Duration time;

  Pgbench(EmbeddedPostgres postgres, int clients, Duration time) {
    this.postgres = postgres;
    this.clients = clients;
    this.time = time;
  }

  /** Returns transactions per second. */
  double run(String script) throws IOException, InterruptedException {
    var file = Files.createTempFile("keeper-bench-", ".sql");
    try {
      Files.writeString(file, script);
      var port = postgres.jdbcUrl().replaceFirst(".*:(\\d+)/.*", "$1");
      var builder =
          new ProcessBuilder(
              "pgbench",
              "-n",
              "-M",
              "prepared",
              "-c",
              Integer.toString(clients),
              "-j",
              "2",
              "-T",
              Long.toString(time.toSeconds()),
              "-f",
              file.toString(),
              "-h",
              "127.0.0.1",
              "-p",
              port,
              "-U",
              postgres.user(),
              "keeper");
      builder.environment().put("PGPASSWORD", postgres.password());
      var process = builder.redirectErrorStream(true).start();
      var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      var tps = TPS.matcher(output);
      if (process.waitFor() != 0 || !tps.find()) {
        throw new IllegalStateException("pgbench failed: " + output);
      }
      return Double.parseDouble(tps.group(1));
    } finally {
      Files.delete(file);
    }
  }
}
