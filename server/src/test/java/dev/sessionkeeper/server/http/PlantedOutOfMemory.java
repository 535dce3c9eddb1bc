package dev.sessionkeeper.server.http;

import dev.sessionkeeper.time.TimeSource;
import java.io.IOException;
import java.util.List;

/** A server process with a handler that runs out of memory. */
final class PlantedOutOfMemory {
  private PlantedOutOfMemory() {}

  public static void main(String[] args) throws IOException {
    var planted =
        Route.get(
            "/planted",
            Role.ANYONE,
            Scope.open(),
            request -> {
              throw new IllegalStateException(new OutOfMemoryError("planted"));
            });
    var server =
        HttpServer.start(
            HttpOptions.of("127.0.0.1", 0),
            new RouteTable(List.of(planted)),
            Gate.open(),
            RequestListener.none(),
            TimeSource.system());
    System.out.println("listens on http://127.0.0.1:" + server.port());
  }
}
