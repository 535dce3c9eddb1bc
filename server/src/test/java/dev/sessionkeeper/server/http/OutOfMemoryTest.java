package dev.sessionkeeper.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.server.Serve;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process that has run out of memory ends, and says so. */
class OutOfMemoryTest {
  private final HttpClient client = HttpClient.newHttpClient();
  @TempDir Path folder;

  @Test
  void aHandlerThatRunsOutOfMemoryEndsTheProcess() throws Exception {
    var process = start(PlantedOutOfMemory.class, List.of());
    try {
      get(addressIn(process.inputReader()) + "/planted");

      assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
      assertThat(process.exitValue()).isEqualTo(EndOnOutOfMemory.EXIT_CODE);
      assertThat(Files.readString(folder.resolve("err.log")))
          .contains("ran out of memory and has ended", "Start it again");
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void aServerWhoseHeapIsFullEndsAsTheLauncherStartsIt() throws Exception {
    assertThat(Files.readString(Path.of("..", "keeper"))).contains("-XX:+ExitOnOutOfMemoryError");
    var config = folder.resolve("keeper.yaml");
    Files.writeString(config, "server: { port: 0 }\nstore: { url: memory }\n");
    var process =
        start(
            Serve.class,
            List.of("--config", config.toString()),
            "-Xmx64m",
            "-XX:+ExitOnOutOfMemoryError");
    try {
      var lines = process.inputReader();
      var address = addressIn(lines);
      send(address, "PUT", "/queues/q", "{\"mode\":\"UNORDERED\"}");
      var message = "{\"messages\":[{\"body\":\"" + "x".repeat(1_000_000) + "\"}]}";
      for (int i = 0; i < 500 && process.isAlive(); i++) {
        send(address, "POST", "/queues/q/messages", message);
      }

      assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
      assertThat(process.exitValue()).isEqualTo(Serve.EXIT_OUT_OF_MEMORY);
      assertThat(lines.lines()).anyMatch(line -> line.contains("java.lang.OutOfMemoryError"));
    } finally {
      process.destroyForcibly();
    }
  }

  private Process start(Class<?> main, List<String> arguments, String... options)
      throws IOException {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-XX:TieredStopAtLevel=1");
    command.addAll(List.of(options));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(arguments);
    return new ProcessBuilder(command).redirectError(folder.resolve("err.log").toFile()).start();
  }

  private static String addressIn(BufferedReader lines) throws IOException {
    for (var line = lines.readLine(); line != null; line = lines.readLine()) {
      if (line.contains("listens on ")) {
        return line.substring(line.indexOf("http"));
      }
    }
    throw new AssertionError("The server has ended");
  }

  private void get(String address) throws InterruptedException {
    answered(HttpRequest.newBuilder(URI.create(address)));
  }

  private void send(String address, String method, String path, String json)
      throws InterruptedException {
    answered(
        HttpRequest.newBuilder(URI.create(address + path))
            .header("Content-Type", "application/json")
            .method(method, HttpRequest.BodyPublishers.ofString(json)));
  }

  private void answered(HttpRequest.Builder request) throws InterruptedException {
    try {
      client.send(
          request.timeout(Duration.ofSeconds(20)).build(), HttpResponse.BodyHandlers.discarding());
    } catch (IOException e) {
      // A process that ends gives no answer.
    }
  }
}
