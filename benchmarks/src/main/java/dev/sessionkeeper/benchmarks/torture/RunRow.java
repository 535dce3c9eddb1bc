package dev.sessionkeeper.benchmarks.torture;

import dev.sessionkeeper.benchmarks.torture.Row.Needs;
import dev.sessionkeeper.benchmarks.torture.Row.Seen;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Shows one row, in processes of its own.
 *
 * @param folder of logs and journals
 * @param seed of the fault runs
 */
record RunRow(Path folder, long seed) {
  private static final String FAULT_RUN = "dev.sessionkeeper.benchmarks.faults.FaultRun";
  private static final Duration PATIENCE = Duration.ofMinutes(8);
  private static final String DISK_SIZE = "420m";

  /** Matches the lines about faults that the fault run prints. */
  private static final Pattern FAULT =
      Pattern.compile(" *[0-9.]+ s  (?!all processes|drained|.* has space again).*");

  private static final Pattern COUNT =
      Pattern.compile("\\| (sends ack.*|completions.*) \\| (.*) \\|");

  Seen run(Row row) throws InterruptedException {
    try {
      return switch (row.proof()) {
        case Row.Run run -> run(row, run);
        case Row.Tests tests ->
            throw new IllegalArgumentException(row.name() + " is shown by RunTests: " + tests);
        case Row.Scene scene ->
            scene.work().run(Files.createDirectories(folder.resolve(row.name())));
      };
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      return Seen.broken(e.toString());
    }
  }

  private Seen run(Row row, Row.Run run) throws IOException, InterruptedException {
    var isMissing = missing(run.needs());
    if (isMissing.isPresent()) {
      return Seen.skipped(isMissing.get());
    }
    var own = Files.createDirectories(folder.resolve(row.name()));
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    var arguments = new ArrayList<>(run.options());
    arguments.addAll(List.of("--seed", Long.toString(seed), "--folder", own.toString()));
    if (run.needs() == Needs.SMALL_DISK) {
      return onSmallDisk(command, arguments, own.resolve("run.log"));
    }
    return judge(command, arguments, own.resolve("run.log"));
  }

  private static Seen onSmallDisk(List<String> command, List<String> arguments, Path log)
      throws IOException, InterruptedException {
    // Not below the folder of logs: the user of the database must be able to enter it.
    var disk = Files.createTempDirectory("keeper-disk-");
    try {
      call(
          List.of("mount", "-t", "tmpfs", "-o", "mode=1777,size=" + DISK_SIZE, "tmpfs", disk + ""));
      command.add("-Djava.io.tmpdir=" + disk);
      arguments.addAll(List.of("--disk", disk.toString()));
      try {
        return judge(command, arguments, log);
      } finally {
        call(List.of("umount", "-l", disk.toString()));
      }
    } finally {
      Files.delete(disk);
    }
  }

  private static Optional<String> missing(Needs needs) {
    return switch (needs) {
      case NOTHING -> Optional.empty();
      case FAKE_CLOCK ->
          Stream.of("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64")
                  .anyMatch(home -> Files.exists(Path.of(home, "faketime", "libfaketime.so.1")))
              ? Optional.empty()
              : Optional.of("libfaketime is not installed");
      case SMALL_DISK ->
          System.getProperty("user.name").equals("root")
              ? Optional.empty()
              : Optional.of("only root can mount a small file system");
    };
  }

  private static Seen judge(List<String> java, List<String> arguments, Path log)
      throws IOException, InterruptedException {
    var command = new ArrayList<>(java);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), FAULT_RUN));
    command.addAll(arguments);
    int code = call(command, log, Path.of(""));
    var lines = Files.readAllLines(log);
    var counts = new ArrayList<String>();
    long faults = lines.stream().filter(line -> FAULT.matcher(line).matches()).count();
    counts.add(faults + " faults");
    for (var line : lines) {
      var count = COUNT.matcher(line);
      if (count.matches()) {
        counts.add(count.group(2) + " " + count.group(1));
      }
    }
    if (code == 0 && faults == 0) {
      return Seen.broken("the run ended without a fault; " + log);
    }
    if (code == 0) {
      return Seen.kept(String.join(", ", counts));
    }
    var first =
        lines.stream()
            .filter(line -> line.startsWith("- ") || line.startsWith("Exception in"))
            .findFirst()
            .orElse("the run ended with code " + code);
    return Seen.broken(first + "; " + log);
  }

  private static void call(List<String> command) throws IOException, InterruptedException {
    var process = new ProcessBuilder(command).inheritIO().start();
    if (process.waitFor() != 0) {
      throw new IOException("Failed: " + String.join(" ", command));
    }
  }

  private static int call(List<String> command, Path log, Path where)
      throws IOException, InterruptedException {
    var process =
        new ProcessBuilder(command)
            .directory(where.toAbsolutePath().toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    try {
      if (!process.waitFor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new IOException("Did not end within " + PATIENCE + "; " + log);
      }
      return process.exitValue();
    } finally {
      process.destroy();
    }
  }
}
