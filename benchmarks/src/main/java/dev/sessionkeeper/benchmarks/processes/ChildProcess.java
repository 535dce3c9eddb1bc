package dev.sessionkeeper.benchmarks.processes;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A Java process that takes commands as lines on its input and answers with lines on its output.
 *
 * <p>One thread gives commands; signals may come from any thread. The process ends when this one
 * does, because its input ends.
 */
public final class ChildProcess implements AutoCloseable {
  private static final String ENDED = "\u0000ended";

  private final String name;
  private final Process process;
  private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

  private ChildProcess(String name, Process process) {
    this.name = name;
    this.process = process;
  }

  /**
   * Starts a process.
   *
   * @param name for messages and logs
   * @param main its class, on the class path of this process
   * @param environment further variables
   * @param log the file of its error output
   */
  public static ChildProcess start(
      String name, Class<?> main, Map<String, String> environment, Path log, String... jvmOptions)
      throws IOException {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of(jvmOptions));
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("-Dlogback.statusListenerClass=ch.qos.logback.core.status.NopStatusListener");
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    var builder = new ProcessBuilder(command);
    builder.environment().putAll(environment);
    builder.redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()));
    var child = new ChildProcess(name, builder.start());
    // A platform thread, because reading from a pipe would block a virtual thread's carrier.
    Thread.ofPlatform().daemon().name("lines of " + name).start(child::readLines);
    return child;
  }

  /** Reads to the end, because a process that writes into a full pipe blocks. */
  private void readLines() {
    try (var reader = process.inputReader(StandardCharsets.UTF_8)) {
      reader.lines().forEach(lines::add);
    } catch (IOException | UncheckedIOException e) {
      // The process was killed in the middle of a line.
    } finally {
      lines.add(ENDED);
    }
  }

  /**
   * Returns a variable that the parent wrote into this process's environment.
   *
   * @throws IllegalStateException if the process was started by hand
   */
  public static String fromParent(String name) {
    var value = System.getenv(name);
    if (value == null) {
      throw new IllegalStateException(name + " is not set; this process is started by another one");
    }
    return value;
  }

  public String name() {
    return name;
  }

  public long pid() {
    return process.pid();
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /** Sends a command without waiting. */
  public void tell(String command) throws IOException {
    process.getOutputStream().write((command + "\n").getBytes(StandardCharsets.UTF_8));
    process.getOutputStream().flush();
  }

  /**
   * Waits for the next line that begins with this word.
   *
   * @throws IllegalStateException if the process ends before, or does not answer in time
   */
  public String await(String word, Duration patience) throws InterruptedException {
    long deadline = System.nanoTime() + patience.toNanos();
    while (true) {
      var line = lines.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
      if (line == null) {
        throw new IllegalStateException(
            "Process " + name + " did not say " + word + " within " + patience);
      }
      if (line.equals(ENDED)) {
        lines.add(ENDED);
        throw new IllegalStateException(
            "Process " + name + " ended before it said " + word + "; its log tells why");
      }
      if (line.startsWith(word)) {
        return line;
      }
    }
  }

  /** Stops the process (SIGSTOP), like a machine that freezes. */
  public void freeze() throws IOException, InterruptedException {
    signal(pid(), "STOP");
  }

  /** Continues the process (SIGCONT). */
  public void thaw() throws IOException, InterruptedException {
    signal(pid(), "CONT");
  }

  /** Kills the process (SIGKILL). */
  public void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  /** Ends the input of the process, which then finishes its work and ends. */
  public void leave() throws IOException {
    process.getOutputStream().close();
  }

  /** Returns whether the process ended in time. */
  public boolean awaitEnd(Duration patience) throws InterruptedException {
    return process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Returns the exit code of a process that has ended. */
  public int exitCode() {
    return process.exitValue();
  }

  /** Kills the process if it still runs. */
  @Override
  public void close() {
    process.destroyForcibly();
  }

  /** Sends a signal by its name. */
  public static void signal(long pid, String name) throws IOException, InterruptedException {
    int code = new ProcessBuilder("kill", "-" + name, Long.toString(pid)).start().waitFor();
    if (code != 0) {
      throw new IOException("Signal " + name + " did not reach process " + pid);
    }
  }
}
