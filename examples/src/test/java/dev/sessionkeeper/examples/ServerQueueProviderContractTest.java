package dev.sessionkeeper.examples;

import dev.sessionkeeper.client.provider.ServerQueueProvider;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.testkit.QueueProviderContract;
import dev.sessionkeeper.time.TimeSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The contract over HTTP, against a live server. */
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
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
