package dev.sessionkeeper.server.clients;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/** Node and Python, if this machine has them. Without them a test is skipped. */
final class Tools {
  static final Path TYPESCRIPT = Path.of("../clients/typescript").toAbsolutePath().normalize();
  static final Path PYTHON = Path.of("../clients/python").toAbsolutePath().normalize();
  private static final List<String> PYTHONS = List.of("python3", "/usr/bin/python3");
  private static final int PATIENCE_SECONDS = 240;

  private Tools() {}

  /** A command that has ended. */
  record Ended(int code, String output) {}

  /** Skips the test if Node or its packages are missing. */
  static synchronized void requireNode() {
    Assumptions.assumeTrue(
        works("node", "--version") && works("npm", "--version"),
        "Node is not installed: the TypeScript client is not tested here");
    alone(Tools::installPackages);
  }

  private static void installPackages() {
    if (!Files.exists(TYPESCRIPT.resolve("node_modules/.bin/redocly"))) {
      var installed =
          run(
              TYPESCRIPT,
              Map.of(),
              "npm",
              "install",
              "--no-audit",
              "--no-fund",
              "--no-package-lock");
      Assumptions.assumeTrue(
          installed.code() == 0,
          "npm cannot get the packages of the TypeScript client: " + installed.output());
    }
  }

  /**
   * Runs a step in one JVM at a time: tests run in several JVMs that share the folder of the
   * TypeScript client.
   */
  private static void alone(Runnable step) {
    try (var channel =
            FileChannel.open(
                Path.of("target", "typescript.lock"),
                StandardOpenOption.CREATE,
                StandardOpenOption.WRITE);
        var lock = channel.lock()) {
      step.run();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns a Python that has httpx; skips the test if there is none. */
  static String requirePython() {
    var found = PYTHONS.stream().filter(python -> works(python, "-c", "import httpx")).findFirst();
    Assumptions.assumeTrue(
        found.isPresent(),
        "No Python with httpx is installed: the Python client is not tested here");
    return found.orElseThrow();
  }

  private static final Path GENERATOR = Path.of("target/generator").toAbsolutePath();
  private static final String GENERATOR_ARTIFACT = "org.openapitools:openapi-generator-cli:7.17.0";

  /** Returns the jar of the client generator; skips the test if Maven cannot get it. */
  static synchronized Path requireGenerator() {
    var jar = GENERATOR.resolve("openapi-generator-cli-7.17.0.jar");
    if (!Files.exists(jar)) {
      var copied =
          works("mvn", "--version")
              // Not in the module's folder: its POM needs the other modules, which may not be
              // installed.
              ? run(
                  made(GENERATOR),
                  Map.of(),
                  "mvn",
                  "-q",
                  "-B",
                  "org.apache.maven.plugins:maven-dependency-plugin:3.9.0:copy",
                  "-Dartifact=" + GENERATOR_ARTIFACT,
                  "-DoutputDirectory=" + GENERATOR)
              : new Ended(1, "Maven is not installed");
      Assumptions.assumeTrue(
          copied.code() == 0 && Files.exists(jar),
          "Maven cannot get " + GENERATOR_ARTIFACT + ": " + copied.output());
    }
    return jar;
  }

  private static Path made(Path folder) {
    try {
      return Files.createDirectories(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Returns a Python with the packages that generated clients need; skips the test if there is
   * none.
   */
  static synchronized String requirePythonForGenerated() {
    var python = GENERATOR.resolve("python/bin/python");
    var needs = "import pydantic, urllib3, dateutil; assert pydantic.VERSION.startswith('2')";
    if (!works(python.toString(), "-c", needs)) {
      var made = works("python3", "-m", "venv", GENERATOR.resolve("python").toString());
      var packages =
          made
              ? run(
                  Path.of("."),
                  Map.of("PIP_RETRIES", "0"),
                  python.toString(),
                  "-m",
                  "pip",
                  "install",
                  "-q",
                  "pydantic>=2",
                  "urllib3",
                  "python-dateutil",
                  "typing-extensions")
              : new Ended(1, "python3 -m venv does not work");
      Assumptions.assumeTrue(
          packages.code() == 0 && works(python.toString(), "-c", needs),
          "No Python for generated clients: " + packages.output());
    }
    return python.toString();
  }

  /** Compiles the TypeScript client. */
  static void buildTypeScript() {
    alone(Tools::compile);
  }

  private static void compile() {
    var built = run(TYPESCRIPT, Map.of(), "npx", "--no-install", "tsc", "-p", ".");
    if (built.code() != 0) {
      throw new AssertionError("The TypeScript client does not compile:\n" + built.output());
    }
  }

  private static boolean works(String... command) {
    try {
      return run(Path.of("."), Map.of(), command).code() == 0;
    } catch (UncheckedIOException e) {
      return false;
    }
  }

  /** Runs a command to its end. */
  static Ended run(Path folder, Map<String, String> environment, String... command) {
    try {
      var output = Files.createTempFile("command", ".log");
      try {
        var process = start(folder, environment, Optional.of(output), List.of(command));
        if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
          process.destroyForcibly();
          throw new AssertionError(List.of(command) + " did not end:\n" + Files.readString(output));
        }
        return new Ended(process.exitValue(), Files.readString(output, StandardCharsets.UTF_8));
      } finally {
        Files.deleteIfExists(output);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  /** Starts a command; its output goes to the file, or is discarded. */
  static Process start(
      Path folder, Map<String, String> environment, Optional<Path> output, List<String> command)
      throws IOException {
    var builder = new ProcessBuilder(new ArrayList<>(command));
    builder.directory(folder.toFile());
    builder.redirectErrorStream(true);
    builder.redirectOutput(
        output
            .map(file -> ProcessBuilder.Redirect.appendTo(file.toFile()))
            .orElse(ProcessBuilder.Redirect.DISCARD));
    builder.environment().putAll(environment);
    return builder.start();
  }
}
