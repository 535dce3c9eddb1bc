package dev.sessionkeeper.documentation;

import dev.sessionkeeper.server.KeeperServer;
import dev.sessionkeeper.server.ReadConfig;
import dev.sessionkeeper.server.config.ConfigSources;
import dev.sessionkeeper.time.TimeSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;

/** A server with every feature, whose routes and metrics are compared with the documentation. */
final class DocumentedServer implements AutoCloseable {
  private static final String CONFIGURATION =
      """
      server: { port: 0 }
      github: { secrets: ["env:SECRET"] }
      bots:
        - name: documented
          deliver: { url: "http://127.0.0.1:9/", allow_private_targets: true }
      """;

  private final KeeperServer server;
  private final HttpClient http = HttpClient.newHttpClient();

  private DocumentedServer(KeeperServer server) {
    this.server = server;
  }

  static DocumentedServer start(Path folder) {
    var sources =
        new ConfigSources(
            "documented.yaml",
            CONFIGURATION,
            folder,
            Map.of("SECRET", "a-secret"),
            Map.of("store.data", folder.resolve("data").toString()));
    return new DocumentedServer(
        KeeperServer.start(ReadConfig.from(sources), () -> sources, TimeSource.system()));
  }

  JsonNode openApi() {
    return new ObjectMapper().readTree(get("/openapi.json"));
  }

  /** Returns the names of the product's own metrics that a scrape shows. */
  Set<String> metricFamilies() {
    var families = new TreeSet<String>();
    get("/metrics")
        .lines()
        .filter(line -> line.startsWith("# TYPE keeper_"))
        .forEach(line -> families.add(line.split(" ", -1)[2]));
    return families;
  }

  private String get(String path) {
    try {
      var request = HttpRequest.newBuilder(URI.create(server.address() + path)).build();
      return http.send(request, HttpResponse.BodyHandlers.ofString()).body();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    server.close();
  }
}
