package dev.sessionkeeper.benchmarks.fuzz;

import dev.sessionkeeper.benchmarks.processes.DatabaseAddress;
import dev.sessionkeeper.benchmarks.proof.Proof;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Runs Jazzer on each target for some time; it looks for input that the target cannot take. */
public final class Fuzz {
  private static final PrintStream OUT = System.out;
  private static final Pattern PROGRESS = Pattern.compile("#(\\d+)\\s.*cov: (\\d+)");

  /** The exit code of Jazzer when it has found something. */
  private static final int FOUND = 77;

  private static final String HELP =
      "Usage: keeper fuzz [--target %s] [--seconds N | --minutes N] [--keep] [--proof FILE]%n"
          + "Each target for so long (default: 60 seconds). --keep adds input that reached new code"
          + " to the corpus. Exit code 1: something was found.";

  private final Path checkout;
  private final Path work;

  Fuzz(Path checkout) {
    this.checkout = checkout;
    this.work = checkout.resolve("benchmarks/target/fuzz");
  }

  /** The result for one target. */
  record Result(Target target, long runs, long reached, boolean hasFound, Path log) {
    private String row() {
      return String.format(
          Locale.ROOT,
          "| %s | %,d | %,d | %s |",
          name(target),
          runs,
          reached,
          hasFound ? "**found something**: " + log : "nothing");
    }
  }

  public static void main(String[] arguments) throws Exception {
    var targets = new ArrayList<>(List.of(Target.values()));
    targets.remove(Target.CANARY);
    var time = Duration.ofSeconds(60);
    boolean isKept = false;
    var proof = Optional.<Path>empty();
    for (int i = 0; i < arguments.length; i++) {
      switch (arguments[i]) {
        case "--target" ->
            targets =
                new ArrayList<>(List.of(Target.valueOf(arguments[++i].toUpperCase(Locale.ROOT))));
        case "--seconds" -> time = Duration.ofSeconds(Long.parseLong(arguments[++i]));
        case "--minutes" -> time = Duration.ofMinutes(Long.parseLong(arguments[++i]));
        case "--keep" -> isKept = true;
        case "--proof" -> proof = Optional.of(Path.of(arguments[++i]));
        default -> {
          var names = String.join("|", Arrays.stream(Target.values()).map(Fuzz::name).toList());
          OUT.printf(Locale.ROOT, HELP + "%n", names);
          System.exit(arguments[i].equals("--help") ? 0 : 2);
        }
      }
    }
    var fuzz = new Fuzz(Path.of("").toAbsolutePath());
    var results = new LinkedHashMap<Target, Result>();
    for (var target : targets) {
      OUT.println(name(target) + " for " + time.toSeconds() + " s");
      results.put(target, fuzz.run(target, time, isKept));
    }
    var table = table(time, results);
    OUT.println(table);
    if (proof.isPresent()) {
      long found = results.values().stream().filter(Result::hasFound).count();
      var summary =
          found == 0
              ? "Nothing was found in " + results.size() + " targets."
              : "**Something was found** in " + found + " of " + results.size() + " targets.";
      Proof.write(
          proof.get(), "Fuzzing", "keeper fuzz --seconds " + time.toSeconds(), summary, table);
    }
    System.exit(results.values().stream().anyMatch(Result::hasFound) ? 1 : 0);
  }

  private static String table(Duration time, Map<Target, Result> results) {
    var text = new StringBuilder("Jazzer, " + time.toSeconds() + " s for each target:\n\n");
    text.append("| target | inputs | places of code reached | found |\n|---|---|---|---|\n");
    results.values().forEach(result -> text.append(result.row()).append('\n'));
    return text.toString();
  }

  private static String name(Target target) {
    return target.name().toLowerCase(Locale.ROOT);
  }

  /** Runs a process of its own, because input may end it. */
  Result run(Target target, Duration time, boolean isKept)
      throws IOException, InterruptedException {
    if (target != Target.SQL) {
      return run(target, time, isKept, Map.of());
    }
    // Jazzer ends its process without a chance to stop a database that runs there.
    try (var postgres = EmbeddedPostgres.temporaryWithoutSync()) {
      return run(target, time, isKept, DatabaseAddress.of(postgres).asEnvironment());
    }
  }

  private Result run(Target target, Duration time, boolean isKept, Map<String, String> environment)
      throws IOException, InterruptedException {
    var corpus = checkout.resolve("benchmarks/src/fuzz").resolve(name(target));
    var found = Files.createDirectories(work.resolve(name(target)).resolve("corpus"));
    var log = work.resolve(name(target)).resolve("log");
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx1g", "-XX:+EnableDynamicAgentLoading"));
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("-D" + FuzzOne.PROPERTY + "=" + name(target));
    command.add("-Dlogback.statusListenerClass=ch.qos.logback.core.status.NopStatusListener");
    command.addAll(List.of("-cp", absolute(System.getProperty("java.class.path"))));
    command.add("com.code_intelligence.jazzer.Jazzer");
    command.add("--target_class=" + FuzzOne.class.getName());
    command.add("--instrumentation_includes=dev.sessionkeeper.**");
    command.add("--instrumentation_excludes=dev.sessionkeeper.benchmarks.**");
    // Hooks in libraries break some of them: Netty's and the database driver's classes do not load.
    command.add("--custom_hook_includes=dev.sessionkeeper.**");
    command.add("--custom_hook_excludes=dev.sessionkeeper.benchmarks.**");
    // The targets connect to their own server and database, and to nothing else.
    command.add(
        "--disabled_hooks=com.code_intelligence.jazzer.sanitizers.ServerSideRequestForgery");
    command.add("-max_total_time=" + time.toSeconds());
    command.add("-timeout=30");
    command.add("-rss_limit_mb=4096");
    command.add("-artifact_prefix=" + work.resolve(name(target)) + "/");
    command.addAll(List.of((isKept ? corpus : found).toString(), corpus.toString()));
    var builder =
        new ProcessBuilder(command)
            .directory(work.resolve(name(target)).toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile());
    builder.environment().putAll(environment);
    var process = builder.start();
    int code = process.waitFor();
    if (code != 0 && code != FOUND) {
      throw new IOException("Jazzer ended with code " + code + "; see " + log);
    }
    long runs = 0;
    long reached = 0;
    try (var lines = Files.lines(log, java.nio.charset.StandardCharsets.ISO_8859_1)) {
      for (var line : (Iterable<String>) lines::iterator) {
        var progress = PROGRESS.matcher(line);
        if (progress.find()) {
          runs = Long.parseLong(progress.group(1));
          reached = Long.parseLong(progress.group(2));
        }
      }
    }
    return new Result(target, runs, reached, code == FOUND, log);
  }

  /**
   * Makes the paths of a class path absolute, because the fuzzing process runs in another folder.
   */
  private static String absolute(String classPath) {
    return Arrays.stream(classPath.split(File.pathSeparator, -1))
        .map(entry -> Path.of(entry).toAbsolutePath().toString())
        .collect(Collectors.joining(File.pathSeparator));
  }
}
