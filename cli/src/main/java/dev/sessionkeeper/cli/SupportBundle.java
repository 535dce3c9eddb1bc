package dev.sessionkeeper.cli;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.client.KeeperClient;
import dev.sessionkeeper.time.TimeSource;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Collects information for a bug report: versions, settings without secrets, nodes, jobs, numbers
 * of queues, metrics. Leaves out messages, states, events, audit entries and users.
 */
@Command(
    name = "support-bundle",
    description =
        "Write a file for a bug report: versions, settings without secrets, jobs, queues, metrics.")
final class SupportBundle implements Callable<Integer> {
  private static final Map<String, String> PARTS = parts();

  @Mixin Remote remote = new Remote();

  @Option(
      names = "--file",
      paramLabel = "FILE",
      description = "The file to write. Default: keeper-support-TIME.zip here")
  @Nullable Path file;

  private static Map<String, String> parts() {
    var parts = new LinkedHashMap<String, String>();
    parts.put("live.json", "/health/live");
    parts.put("ready.json", "/health/ready");
    parts.put("system.json", "/system");
    parts.put("nodes.json", "/nodes");
    parts.put("jobs.json", "/jobs");
    parts.put("queues.json", "/queues?limit=1000");
    parts.put("metrics.txt", "/metrics");
    return parts;
  }

  @Override
  public Integer call() throws IOException {
    var into = file == null ? Path.of("keeper-support-" + now() + ".zip") : file;
    var missing = new LinkedHashMap<String, String>();
    try (var client = remote.open();
        var out = Files.newOutputStream(into);
        var zip = new ZipOutputStream(out)) {
      put(zip, "client.txt", client().getBytes(StandardCharsets.UTF_8));
      for (var part : PARTS.entrySet()) {
        try {
          put(zip, part.getKey(), body(client, part.getValue()));
        } catch (KeeperException | dev.sessionkeeper.client.ProblemException e) {
          missing.put(part.getKey(), String.valueOf(e.getMessage()));
          put(
              zip,
              part.getKey() + ".missing",
              String.valueOf(e.getMessage()).getBytes(StandardCharsets.UTF_8));
        }
      }
    }
    var terminal = Terminal.standard();
    missing.forEach((part, why) -> terminal.note("Without " + part + ": " + why));
    terminal.print(into.toString());
    return missing.size() == PARTS.size() ? Exit.UNAVAILABLE : Exit.OK;
  }

  /**
   * Returns the body of an error answer too, because a server that is not ready gives its reason
   * there.
   */
  private static byte[] body(KeeperClient client, String path) {
    return client.getBytes(path);
  }

  private static String now() {
    return DateTimeFormatter.ofPattern("uuuuMMdd-HHmmss")
        .withZone(ZoneOffset.UTC)
        .format(TimeSource.system().instant());
  }

  private static String client() {
    return String.join(
        "\n",
        new Version().getVersion()[0],
        "Java " + Runtime.version() + " on " + System.getProperty("os.name"),
        "");
  }

  private static void put(ZipOutputStream zip, String name, byte[] bytes) throws IOException {
    zip.putNextEntry(new ZipEntry(name));
    ((OutputStream) zip).write(bytes);
    zip.closeEntry();
  }
}
