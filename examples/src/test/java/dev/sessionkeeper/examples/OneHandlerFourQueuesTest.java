package dev.sessionkeeper.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.embedded.EmbeddedPostgres;
import dev.sessionkeeper.servicebus.ServiceBusQueueProvider;
import dev.sessionkeeper.servicebus.testserver.ServiceBusTestServer;
import dev.sessionkeeper.spi.QueueProvider;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.elasticmq.rest.sqs.SQSRestServerBuilder;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sqs.SqsClient;

/** The same handler has the same effects on each of the four. */
@Timeout(60)
@ResourceLock(Resources.SYSTEM_OUT)
@Tag("slow")
class OneHandlerFourQueuesTest {

  @Test
  void inMemory() throws Exception {
    assertSame(OneHandlerFourQueues.inMemory());
  }

  @Test
  void inPostgres() throws Exception {
    try (var postgres = EmbeddedPostgres.temporaryWithoutSync()) {
      assertSame(OneHandlerFourQueues.inPostgres(postgres.dataSource()));
    }
  }

  @Test
  void onServiceBus() throws Exception {
    try (var server = ServiceBusTestServer.start()) {
      assertSame(
          ServiceBusQueueProvider.builder(server.connectionString())
              .administrationEndpoint(server.administrationEndpoint())
              .build());
    }
  }

  @Test
  void onSqs() throws Exception {
    var server = SQSRestServerBuilder.withInterface("127.0.0.1").withDynamicPort().start();
    int port = server.waitUntilStarted().localAddress().getPort();
    try (var client =
        SqsClient.builder()
            .endpointOverride(URI.create("http://127.0.0.1:" + port))
            .region(Region.US_EAST_1)
            .credentialsProvider(
                StaticCredentialsProvider.create(AwsBasicCredentials.create("any", "any")))
            .httpClient(UrlConnectionHttpClient.create())
            .build()) {
      assertSame(OneHandlerFourQueues.onSqs(client));
    } finally {
      server.stopAndWait();
    }
  }

  private static void assertSame(QueueProvider provider) throws Exception {
    var before = System.out;
    var bytes = new ByteArrayOutputStream();
    System.setOut(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    try (provider) {
      OneHandlerFourQueues.run(provider);
    } finally {
      System.setOut(before);
    }
    var lines = bytes.toString(StandardCharsets.UTF_8).lines().toList();
    for (var parcel : List.of("parcel-1", "parcel-2")) {
      assertThat(lines.stream().filter(line -> line.startsWith(parcel)))
          .containsExactly(
              parcel + ": pack, attempt 1",
              parcel + ": weigh, attempt 1",
              parcel + ": weigh, attempt 2",
              parcel + ": ship, attempt 1");
    }
  }
}
