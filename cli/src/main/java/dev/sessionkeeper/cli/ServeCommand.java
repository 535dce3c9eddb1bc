package dev.sessionkeeper.cli;

import dev.sessionkeeper.server.Serve;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Starts the server in the foreground. */
@Command(
    name = "serve",
    description = {
      "Start the server on http://127.0.0.1:8080 with a durable store under ./data.",
      "Precedence: flag, environment variable (such as KEEPER_SERVER_PORT), file."
    })
final class ServeCommand implements Callable<Integer> {
  @Option(names = "--config", description = "The configuration, such as keeper.yaml")
  @Nullable Path config;

  @Option(names = "--host", description = "The address to listen on")
  @Nullable String host;

  @Option(names = "--port", description = "The port to listen on; 0 for a free one")
  @Nullable String port;

  @Option(names = "--data", paramLabel = "FOLDER", description = "The folder of the embedded store")
  @Nullable Path data;

  @Override
  public Integer call() {
    var flags = new LinkedHashMap<String, String>();
    if (host != null) {
      flags.put("server.host", host);
    }
    if (port != null) {
      flags.put("server.port", port);
    }
    if (data != null) {
      flags.put("store.data", data.toAbsolutePath().toString());
    }
    return new Serve(System.out, System.err)
        .run(Optional.ofNullable(config), System.getenv(), flags);
  }
}
