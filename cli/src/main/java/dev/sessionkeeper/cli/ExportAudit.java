package dev.sessionkeeper.cli;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.json.JsonMapper;

/** Writes the audit log as lines of JSON, oldest first. */
@Command(
    name = "export",
    description = "Write the audit log as NDJSON, oldest first, with the hash of each entry.")
final class ExportAudit implements Callable<Integer> {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  @Mixin Remote remote = new Remote();

  @Option(
      names = "--file",
      paramLabel = "FILE",
      description = "The file to write. Default: standard output")
  @Nullable Path file;

  @Option(
      names = "--after",
      defaultValue = "0",
      description = "Only entries after this seq, such as the last one of the previous export")
  long after;

  @Override
  public Integer call() throws IOException {
    if (file == null) {
      write(System.out);
      System.out.flush();
    } else {
      // An export that breaks off must not leave a file that looks complete.
      var partial = file.resolveSibling(file.getFileName() + ".part");
      long lines;
      try {
        try (var out = Files.newOutputStream(partial)) {
          lines = write(out);
        }
        Files.move(partial, file, StandardCopyOption.REPLACE_EXISTING);
      } finally {
        Files.deleteIfExists(partial);
      }
      Terminal.standard().note("Wrote " + Amount.of(lines, "entry") + " to " + file + ".");
    }
    return Exit.OK;
  }

  private long write(OutputStream out) throws IOException {
    long lines = 0;
    try (var client = remote.open()) {
      byte[] page = client.getBytes("/audit/export?after=" + after);
      while (page.length > 0) {
        out.write(page);
        var all = new String(page, StandardCharsets.UTF_8).lines().toList();
        lines += all.size();
        after = JSON.readTree(all.getLast()).path("seq").asLong();
        page = client.getBytes("/audit/export?after=" + after);
      }
    }
    return lines;
  }
}
