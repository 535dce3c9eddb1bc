package dev.sessionkeeper.benchmarks.faults;

import dev.sessionkeeper.QueueSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The options of a run.
 *
 * @param processes consumers with a processor
 * @param holders consumers without one, see {@link HolderProcess}
 * @param every the mean time between two faults
 * @param longFreeze a stop that no lease survives
 * @param disk a small file system that holds the temporary folder, for {@link Faults#DISK}
 * @param folder for journals; a temporary one if empty
 */
record Options(
    Duration duration,
    int processes,
    int holders,
    Set<Faults> faults,
    long seed,
    Duration every,
    Duration longFreeze,
    Load load,
    Optional<Path> disk,
    Optional<Path> folder) {
  private static final List<String> NAMES =
      List.of(
          "minutes",
          "seconds",
          "processes",
          "holders",
          "senders",
          "sessions",
          "rate",
          "backlog",
          "threads",
          "slots",
          "load",
          "faults",
          "handlers",
          "lock",
          "freeze",
          "every",
          "attempts",
          "seed",
          "disk",
          "folder");

  Options {
    if (faults.contains(Faults.DISK) && disk.isEmpty()) {
      throw new IllegalArgumentException(
          "--faults disk needs --disk, the file system to be filled");
    }
    if (faults.contains(Faults.CLOCK) && FakeClock.library().isEmpty()) {
      throw new IllegalArgumentException(
          "--faults clock needs libfaketime, which is not installed");
    }
    if (processes < 1 || processes > 16) {
      throw new IllegalArgumentException("processes must be 1 to 16, was " + processes);
    }
  }

  /** The messages of a run, and their handling. See {@link Shape}. */
  record Load(
      int senders,
      int sessions,
      int rate,
      int backlog,
      int threads,
      int slots,
      Shape.Handlers handlers,
      Duration lock,
      int maxAttempts) {}

  /** From {@code --name value} pairs. */
  static Options parse(String... args) {
    var given = new HashMap<String, String>();
    for (int i = 0; i + 1 < args.length; i += 2) {
      var name = args[i].startsWith("--") ? args[i].substring(2) : args[i];
      if (!NAMES.contains(name)) {
        throw new IllegalArgumentException("Unknown option " + args[i] + "; known are " + NAMES);
      }
      given.put(name, args[i + 1]);
    }
    if (args.length % 2 != 0) {
      throw new IllegalArgumentException("Option " + args[args.length - 1] + " has no value");
    }
    return of(given);
  }

  private static Options of(Map<String, String> chosen) {
    var given = new HashMap<>(preset(chosen.getOrDefault("load", "light")));
    given.putAll(chosen);
    var duration =
        given.containsKey("seconds")
            ? Duration.ofSeconds(Long.parseLong(given.get("seconds")))
            : Duration.ofMinutes(Long.parseLong(given.getOrDefault("minutes", "3")));
    var handlers = given.getOrDefault("handlers", "mixed").toUpperCase(Locale.ROOT);
    return new Options(
        duration,
        Integer.parseInt(given.getOrDefault("processes", "3")),
        Integer.parseInt(given.getOrDefault("holders", "1")),
        given.containsKey("faults") ? Faults.parse(given.get("faults")) : Faults.all(),
        given.containsKey("seed") ? Long.parseLong(given.get("seed")) : System.nanoTime() % 100_000,
        seconds(given.getOrDefault("every", "3")),
        seconds(given.getOrDefault("freeze", "13")),
        new Load(
            Integer.parseInt(given.getOrDefault("senders", "2")),
            Integer.parseInt(given.getOrDefault("sessions", "60")),
            Integer.parseInt(given.getOrDefault("rate", "250")),
            Integer.parseInt(given.getOrDefault("backlog", "0")),
            Integer.parseInt(given.getOrDefault("threads", "3")),
            Integer.parseInt(given.getOrDefault("slots", "8")),
            Shape.Handlers.valueOf(handlers),
            lock(given.getOrDefault("lock", "5")),
            Integer.parseInt(given.getOrDefault("attempts", "5"))),
        Optional.ofNullable(given.get("disk")).map(Path::of),
        Optional.ofNullable(given.get("folder")).map(Path::of));
  }

  /**
   * Returns the values that a named load gives to unset options. The heavy one keeps hundreds of
   * sessions held, and sends as fast as consumers complete.
   */
  private static Map<String, String> preset(String load) {
    return switch (load) {
      case "light" -> Map.of();
      case "heavy" ->
          Map.of(
              "slots", "256", "sessions", "900", "threads", "12", "rate", "0", "backlog", "4000");
      default ->
          throw new IllegalArgumentException("load must be light or heavy, was \"" + load + "\"");
    };
  }

  /** Returns a lock duration: so many seconds, or what queues have by default. */
  private static Duration lock(String text) {
    return text.equals("default") ? QueueSettings.ordered().lockDuration() : seconds(text);
  }

  private static Duration seconds(String text) {
    return Duration.ofMillis((long) (Double.parseDouble(text) * 1000));
  }

  /** Returns the command line that repeats the run. */
  String asArguments() {
    return String.format(
        Locale.ROOT,
        "--seconds %d --processes %d --holders %d --senders %d --sessions %d --rate %d --backlog %d"
            + " --threads %d --slots %d --faults %s --handlers %s"
            + " --lock %s --freeze %s --every %s --attempts %d --seed %d",
        duration.toSeconds(),
        processes,
        holders,
        load.senders(),
        load.sessions(),
        load.rate(),
        load.backlog(),
        load.threads(),
        load.slots(),
        String.join(",", faults.stream().map(f -> f.name().toLowerCase(Locale.ROOT)).toList()),
        load.handlers().name().toLowerCase(Locale.ROOT),
        inSeconds(load.lock()),
        inSeconds(longFreeze),
        inSeconds(every),
        load.maxAttempts(),
        seed);
  }

  private static String inSeconds(Duration duration) {
    return Double.toString(duration.toMillis() / 1000.0);
  }
}
