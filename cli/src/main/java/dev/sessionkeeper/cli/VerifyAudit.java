package dev.sessionkeeper.cli;

import dev.sessionkeeper.store.Actor;
import dev.sessionkeeper.store.AuditChain;
import dev.sessionkeeper.store.AuditLog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Verifies the hashes of the audit log, in the server or in an exported file. */
@Command(
    name = "verify",
    description = {
      "Check that no audit entry was changed, removed or inserted; exit code 1 if one was.",
      "With FILE, check an export without a server."
    })
final class VerifyAudit implements Callable<Integer> {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  @Mixin Remote remote = new Remote();

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "FILE",
      description = "A file that audit export wrote")
  @Nullable Path file;

  @Option(
      names = "--last-hash",
      description = "The last hash of an earlier check or export; the log must still contain it")
  @Nullable String lastHash;

  @Override
  public Integer call() throws IOException {
    var answer = file == null ? inServer() : inFile(file);
    boolean intact = answer.path("intact").asBoolean();
    remote.tell(answer, sentence(answer, intact));
    return intact ? Exit.OK : Exit.FAILED;
  }

  private static String sentence(JsonNode answer, boolean intact) {
    if (!intact) {
      return "Broken at entry %s: %s."
          .formatted(answer.path("brokenAt"), answer.path("reason").asString(""));
    }
    return answer.path("entries").asLong() == 0
        ? "There are no entries; nothing was checked."
        : "Intact: %s entries, the last hash is %s."
            .formatted(answer.path("entries"), answer.path("lastHash").asString(""));
  }

  private JsonNode inServer() {
    try (var client = remote.open()) {
      var answer = client.get("/audit/verify", Map.of());
      if (lastHash != null && answer.path("intact").asBoolean() && !isThere(lastHash)) {
        return broken(0, "no entry has the hash " + lastHash);
      }
      return answer;
    }
  }

  private boolean isThere(String hash) {
    try (var client = remote.open()) {
      long after = 0;
      var lines = lines(client.getBytes("/audit/export?after=0"));
      while (!lines.isEmpty()) {
        for (var line : lines) {
          var entry = JSON.readTree(line);
          if (entry.path("hash").asString("").equals(hash)) {
            return true;
          }
          after = entry.path("seq").asLong();
        }
        lines = lines(client.getBytes("/audit/export?after=" + after));
      }
      return false;
    }
  }

  private static java.util.List<String> lines(byte[] page) {
    return new String(page, java.nio.charset.StandardCharsets.UTF_8).lines().toList();
  }

  private JsonNode inFile(Path export) throws IOException {
    String before = null;
    long seq = 0;
    long entries = 0;
    boolean isLastThere = lastHash == null;
    try (var lines = Files.lines(export)) {
      for (var line : (Iterable<String>) lines::iterator) {
        var entry = JSON.readTree(line);
        var previous = entry.path("previous").asString("");
        if (before != null && (entry.path("seq").asLong() != seq + 1 || !previous.equals(before))) {
          return broken(seq + 1, "the entry is missing");
        }
        seq = entry.path("seq").asLong();
        before = entry.path("hash").asString("");
        if (!hash(entry, seq, previous).equals(before)) {
          return broken(seq, "the entry does not fit its hash");
        }
        isLastThere |= before.equals(lastHash);
        entries++;
      }
    }
    if (!isLastThere) {
      return broken(seq + 1, "no entry has the hash " + lastHash);
    }
    return JsonNodeFactory.instance
        .objectNode()
        .put("intact", true)
        .put("entries", entries)
        .put("lastHash", before);
  }

  private static String hash(JsonNode entry, long seq, String previous) {
    var row =
        new AuditLog.Row(
            0,
            Instant.parse(entry.path("at").asString()),
            new AuditLog.Entry(
                new Actor(text(entry, "actor"), text(entry, "source")),
                text(entry, "action"),
                text(entry, "target"),
                text(entry, "reason"),
                text(entry, "details"),
                entry.path("count").asInt()));
    return HexFormat.of().formatHex(AuditChain.hash(HexFormat.of().parseHex(previous), seq, row));
  }

  private static String text(JsonNode entry, String member) {
    return entry.path(member).asString("");
  }

  private static ObjectNode broken(long seq, String why) {
    return JsonNodeFactory.instance
        .objectNode()
        .put("intact", false)
        .put("brokenAt", seq)
        .put("reason", why);
  }
}
