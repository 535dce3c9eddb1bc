package dev.sessionkeeper.examples;

import dev.sessionkeeper.client.provider.ServerQueueProvider;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.testkit.QueueProviderContract;
import dev.sessionkeeper.time.TimeSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The contract over HTTP, against a live server. */
class ServerQueueProviderContractTest extends QueueProviderContract {
  private static LocalServer server;

  @BeforeAll
  static void start() {
    server = LocalServer.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Override
  protected QueueProvider createProvider(TimeSource time) {
    return ServerQueueProvider.over(server.client());
  }
}
