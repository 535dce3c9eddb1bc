package dev.sessionkeeper.server.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Map;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;

/**
 * Vendored files equal the published ones. The digests were taken from packages whose {@code
 * dist.integrity} npm confirms; NOTICE names both.
 */
class VendoredFilesTest {
  private static final Path FILES = Path.of("src/main/resources/dashboard");
  private static final Map<String, String> SHA256 =
      Map.of(
          "htmx-4.0.0.min.js",
          "e484d9171a9db30a39c8f16e3d709d4137f3211c659f8e6125816635033d593f",
          "uPlot-1.6.32.iife.min.js",
          "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
          "uPlot-1.6.32.min.css",
          "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04");

  @Test
  void noVendoredFileWasChanged() throws Exception {
    for (var file : SHA256.entrySet()) {
      var bytes = Files.readAllBytes(FILES.resolve("vendor").resolve(file.getKey()));
      var digest = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
      assertThat(digest).as(file.getKey()).isEqualTo(file.getValue());
    }
    assertThat(Files.readString(Path.of("../NOTICE"), StandardCharsets.UTF_8))
        .contains("htmx 4.0.0", "uPlot 1.6.32", "sha512-");
  }

  @Test
  void allScriptsTogetherAreSmall() throws IOException {
    long sum = 0;
    for (var file :
        new String[] {"vendor/htmx-4.0.0.min.js", "vendor/uPlot-1.6.32.iife.min.js", "keeper.js"}) {
      sum += gzipped(Files.readAllBytes(FILES.resolve(file)));
    }
    assertThat(sum).isLessThan(45 << 10);
    assertThat(gzipped(Files.readAllBytes(FILES.resolve("keeper.js")))).isLessThan(6 << 10);
  }

  private static int gzipped(byte[] bytes) throws IOException {
    var out = new ByteArrayOutputStream();
    try (var gzip = new GZIPOutputStream(out)) {
      gzip.write(bytes);
    }
    return out.size();
  }
}
