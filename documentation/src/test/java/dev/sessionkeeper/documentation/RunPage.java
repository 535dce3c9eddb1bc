package dev.sessionkeeper.documentation;

import dev.sessionkeeper.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * Runs the commands of one page, in order, in one shell.
 *
 * <p>A block with a file name behind its language is saved under that name. A block {@code sh
 * server} starts in the background, and the run waits until the server is ready. A block {@code sh
 * background} starts in the background. A block {@code text} is the expected output of the commands
 * before it: each of its lines must appear, in order, and {@code …} stands for anything. Ports of
 * the page become free ports of the machine.
 */
final class RunPage {
  private static final int MAX_MINUTES = 4;
  private static final List<String> PORTS = List.of("8080", "8081", "8090", "8443", "3000", "9090");

  private static final Set<String> CLAIMED = ConcurrentHashMap.newKeySet();

  private final Page page;
  private final Path folder;
  private final Map<String, String> database;
  private final Map<String, String> ports = new LinkedHashMap<>();
  private final StringBuilder script = new StringBuilder();
  private final List<Expected> expected = new ArrayList<>();
  private final List<String> skipped = new ArrayList<>();

  private RunPage(Page page, Path folder, Map<String, String> database) throws IOException {
    this.page = page;
    this.folder = folder;
    this.database = database;
    for (var port : PORTS) {
      ports.put(port, freePort());
    }
  }

  /** Returns a free port that no other page of this process has. */
  private static String freePort() throws IOException {
    while (true) {
      try (var socket = new ServerSocket(0)) {
        var port = Integer.toString(socket.getLocalPort());
        if (CLAIMED.add(port)) {
          return port;
        }
      }
    }
  }

  /**
   * The expected output of block {@code number}.
   *
   * @param line the line of the page
   */
  private record Expected(int number, String text, int line) {}

  /**
   * The result of a run.
   *
   * @param failures all differences from the page; empty if there are none
   * @param skipped blocks whose programs this machine lacks
   */
  record Result(List<String> failures, List<String> skipped) {}

  /** Runs a page. If a page names a database of the reader, the run provides one. */
  static Result run(Page page, Path folder) throws IOException, InterruptedException {
    if (needsOwnPrograms(page) && InstalledPostgres.programs().isPresent()) {
      try (var database = InstalledPostgres.start()) {
        return new RunPage(page, folder, database.environment()).run();
      }
    }
    boolean needsDatabase =
        page.blocks().stream().anyMatch(block -> block.text().contains("KEEPER_STORE_URL"));
    if (!needsDatabase || needsOwnPrograms(page)) {
      return new RunPage(page, folder, Map.of()).run();
    }
    try (var database = EmbeddedPostgres.temporary()) {
      var environment =
          Map.of(
              "KEEPER_STORE_URL",
              database.jdbcUrl(),
              "KEEPER_STORE_USER",
              database.user(),
              "KEEPER_STORE_PASSWORD",
              database.password());
      return new RunPage(page, folder, environment).run();
    }
  }

  private static boolean needsOwnPrograms(Page page) {
    return page.blocks().stream().anyMatch(block -> block.needs().equals(Optional.of("pg_dump")));
  }

  private Result run() throws IOException, InterruptedException {
    write();
    Files.writeString(folder.resolve("page.sh"), script);
    var process = start();
    var descendants = new ArrayList<ProcessHandle>();
    boolean ended;
    try {
      ended = process.waitFor(MAX_MINUTES, TimeUnit.MINUTES);
      process.descendants().forEach(descendants::add);
    } finally {
      process.descendants().forEach(ProcessHandle::destroy);
      process.destroy();
    }
    for (var descendant : descendants) {
      descendant.onExit().orTimeout(30, TimeUnit.SECONDS).exceptionally(late -> descendant).join();
    }
    return new Result(failures(ended, process), skipped);
  }

  /**
   * Returns whether the page names the port: the environment variable would override the port of
   * its configuration file.
   */
  private boolean namesItsPort() {
    return page.blocks().stream().anyMatch(block -> block.text().contains("port: 8"));
  }

  private Process start() throws IOException {
    var builder = new ProcessBuilder("bash", "page.sh").directory(folder.toFile());
    builder.redirectErrorStream(true).redirectOutput(folder.resolve("page.log").toFile());
    var environment = builder.environment();
    environment.keySet().removeIf(name -> name.startsWith("KEEPER_"));
    var java = Path.of(System.getProperty("java.home"));
    environment.put("JAVA_HOME", java.toString());
    environment.putAll(database);
    environment.put("PATH", java.resolve("bin") + ":" + environment.get("PATH"));
    environment.put("KEEPER_URL", "http://127.0.0.1:" + ports.get("8080"));
    if (!namesItsPort()) {
      environment.put("KEEPER_SERVER_PORT", ports.get("8080"));
    }
    environment.put("LC_ALL", "C.UTF-8");
    return builder.start();
  }

  private void write() throws IOException {
    script.append(
        """
        set -euo pipefail
        exec 9>&1
        failed() { exec >&9 2>&1; echo "line $1 of the page: exit code $2"; cat "out.$1" "err.$1"; cat *.bg 2>/dev/null || true; finish; exit 1; }
        finish() { for pid in $servers; do kill "$pid" 2>/dev/null || true; done; for pid in $servers; do wait "$pid" 2>/dev/null || true; done; servers=; }
        ready() { for i in $(seq 600); do for scheme in http https; do
            if curl -ksf -m 2 "$scheme://127.0.0.1:$1/health/ready" >/dev/null; then return 0; fi; done
          kill -0 "$2" 2>/dev/null || return 1; sleep 0.2; done; return 1; }
        listening() { for i in $(seq 150); do (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return 0; sleep 0.2; done; return 1; }
        servers=
        """);
    Block last = null;
    for (var step : page.steps()) {
      if (step.equals(Page.STOP)) {
        script.append("finish\n");
      } else {
        var block = (Block) step;
        add(block, last);
        last = block;
      }
    }
    script.append("finish\n");
  }

  private void add(Block block, Block last) throws IOException {
    if (block.isExcluded()) {
      return;
    }
    if (block.language().equals("text")) {
      boolean isOutput = block.followsBlock() && last != null && last.language().equals("sh");
      if (isOutput && !last.isExcluded() && !isSkipped(last)) {
        expected.add(new Expected(last.line(), withPorts(block.text()), block.line()));
      }
    } else if (block.file().isPresent()) {
      var file = folder.resolve(block.file().get());
      Files.createDirectories(file.getParent());
      Files.writeString(file, withPorts(block.text()) + "\n");
    } else if (block.language().equals("sh") && !isSkipped(block)) {
      run(block);
    }
  }

  private boolean isSkipped(Block block) {
    if (block.needs().isEmpty() || isThere(block.needs().get())) {
      return false;
    }
    var skip = page + ":" + block.line() + " needs " + block.needs().get();
    if (!skipped.contains(skip)) {
      skipped.add(skip);
    }
    return true;
  }

  /**
   * Returns whether a program is there; a dump also needs a server of the same version, which the
   * machine's packages provide.
   */
  private static boolean isThere(String program) {
    return program.equals("pg_dump")
        ? InstalledPostgres.programs().isPresent()
        : Programs.isThere(program);
  }

  private void run(Block block) {
    var text = withPorts(block.text());
    int n = block.line();
    if (block.isBackground()) {
      script.append("(\n%s\n) >%d.bg 2>&1 &\nservers=\"$! $servers\"\n".formatted(text, n));
      var port = block.words().stream().filter(ports::containsKey).map(ports::get).findFirst();
      if (block.isServer()) {
        script.append(
            "ready %s $! || { touch out.%d err.%d; failed %d 1; }\n"
                .formatted(port.orElse(ports.get("8080")), n, n, n));
      } else {
        port.ifPresent(
            number ->
                script.append(
                    "listening %s || { touch out.%d err.%d; failed %d 1; }\n"
                        .formatted(number, n, n, n)));
      }
    } else {
      script.append(
          "trap 'code=$?; trap - EXIT; failed %d $code' EXIT\n{\n%s\n} >out.%d 2>err.%d\ntrap - EXIT\n"
              .formatted(n, text, n, n));
    }
  }

  private String withPorts(String text) {
    var result = text;
    for (var port : ports.entrySet()) {
      result = result.replaceAll("(?<!\\d)" + port.getKey() + "(?!\\d)", port.getValue());
    }
    return result;
  }

  private List<String> failures(boolean ended, Process process) throws IOException {
    if (!ended || process.exitValue() != 0) {
      return List.of(
          page
              + (ended ? " failed:\n" : " did not end in time:\n")
              + Files.readString(folder.resolve("page.log")));
    }
    var failures = new ArrayList<String>();
    for (var wanted : expected) {
      var out = folder.resolve("out." + wanted.number());
      if (Files.exists(out)) {
        missing(wanted.text(), see(out) + see(folder.resolve("err." + wanted.number())))
            .ifPresent(
                line ->
                    failures.add(
                        page
                            + ":"
                            + wanted.line()
                            + " promises:\n"
                            + line
                            + "\nbut saw:\n"
                            + see(out)));
      }
    }
    return failures;
  }

  private static String see(Path out) {
    try {
      return Files.readString(out);
    } catch (IOException e) {
      return e.toString();
    }
  }

  /** Returns the first expected line that the output lacks. */
  static Optional<String> missing(String promised, String output) {
    var lines = output.lines().map(RunPage::squeezed).toList();
    int from = 0;
    for (var line : promised.lines().filter(text -> !text.isBlank()).toList()) {
      var pattern = pattern(squeezed(line));
      int at = from;
      while (at < lines.size() && !pattern.matcher(lines.get(at)).matches()) {
        at++;
      }
      if (at == lines.size()) {
        return Optional.of(line);
      }
      from = at + 1;
    }
    return Optional.empty();
  }

  private static Pattern pattern(String line) {
    return Pattern.compile(
        java.util.Arrays.stream(line.split("…", -1))
            .map(Pattern::quote)
            .collect(java.util.stream.Collectors.joining(".*")));
  }

  private static String squeezed(String line) {
    return line.strip().replaceAll("\\s+", " ");
  }
}
