package dev.sessionkeeper.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sessionkeeper.server.security.ApiKeys;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server in a process of its own, as an operator sees it: signals, files, exit codes. */
class ServeTest {
  private final ApiKeys.Generated first = ApiKeys.generate();
  private final ApiKeys.Generated second = ApiKeys.generate();
  private final HttpClient client = HttpClient.newHttpClient();
  @TempDir Path folder;
  private Path config;
  private Process process;
  private String address;

  @BeforeEach
  void start() throws IOException {
    config = folder.resolve("keeper.yaml");
    write(first);
    process =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-XX:TieredStopAtLevel=1",
                    "-Xmx256m",
                    "-Dlogback.configurationFile=logback.xml",
                    "-cp",
                    System.getProperty("java.class.path"),
                    Serve.class.getName(),
                    "--config",
                    config.toString()))
            .redirectError(folder.resolve("err.log").toFile())
            .start();
    address = addressIn(process.inputReader());
  }

  private static String addressIn(BufferedReader lines) throws IOException {
    for (var line = lines.readLine(); line != null; line = lines.readLine()) {
      if (line.contains("listens on ")) {
        Thread.ofVirtual().start(() -> lines.lines().forEach(rest -> {}));
        return line.substring(line.indexOf("http"));
      }
    }
    throw new AssertionError("The server has ended");
  }

  @AfterEach
  void stop() {
    process.destroyForcibly();
    client.close();
  }

  private void write(ApiKeys.Generated key) throws IOException {
    Files.writeString(
        config,
        """
        server: { port: 0 }
        store: { url: memory }
        security: { keys: [ { name: ops, sha256: %s, roles: [admin] } ] }
        """
            .formatted(key.sha256()));
  }

  private void signal(String name) throws IOException, InterruptedException {
    new ProcessBuilder("kill", "-" + name, "" + process.pid()).start().waitFor();
  }

  private int get(ApiKeys.Generated key) {
    try {
      var request =
          HttpRequest.newBuilder(URI.create(address + "/queues"))
              .timeout(Duration.ofSeconds(10))
              .header("Authorization", "Bearer " + key.key())
              .build();
      return client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** A process started by nohup ignores SIGHUP, and so do its children. */
  private static boolean hearsHangups() throws IOException {
    var status = Path.of("/proc/self/status");
    if (!Files.exists(status)) {
      return true;
    }
    return Files.readAllLines(status).stream()
        .filter(line -> line.startsWith("SigIgn:"))
        .noneMatch(line -> (Long.parseUnsignedLong(line.substring(7).strip(), 16) & 1) == 1);
  }

  @Test
  void aHangupReadsTheConfigurationAgain() throws Exception {
    assumeTrue(hearsHangups(), "this process ignores hangups, as under nohup");
    assertThat(get(first)).isEqualTo(200);

    Files.writeString(config, "surprise: 1\n");
    signal("HUP");
    await().until(() -> Files.readString(folder.resolve("err.log")).contains("surprise"));
    assertThat(get(first)).isEqualTo(200);

    write(second);
    signal("HUP");
    await().atMost(Duration.ofSeconds(20)).until(() -> get(second) == 200);
    assertThat(get(first)).isEqualTo(401);
  }

  @Test
  void aTerminationEndsIt() throws Exception {
    assertThat(get(first)).isEqualTo(200);
    signal("TERM");
    assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).isEqualTo(128 + 15);
  }
}
