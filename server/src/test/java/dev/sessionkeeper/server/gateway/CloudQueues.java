package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.servicebus.testserver.ServiceBusTestServer;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.elasticmq.rest.sqs.SQSRestServer;
import org.elasticmq.rest.sqs.SQSRestServerBuilder;

/** The queues of a cloud, on a test server, and their possible failures. */
interface CloudQueues extends AutoCloseable {
  /** Returns the section of the configuration that names the queues. */
  String yaml();

  /** Cuts every connection in the middle of its traffic. */
  void dropConnections();

  /** Ends the locks of all held sessions while their owners still live. */
  void endLocks(String queue) throws InterruptedException;

  @Override
  void close() throws IOException;

  /** SQS: a lock ends if the network is away for longer than the lock lasts. */
  static CloudQueues sqs(Duration lock) throws IOException {
    // The SDK looks for credentials here; the test server accepts any.
    System.setProperty("aws.accessKeyId", "any");
    System.setProperty("aws.secretAccessKey", "any");
    var server = SQSRestServerBuilder.withInterface("127.0.0.1").withDynamicPort().start();
    var wire = new Wire(server.waitUntilStarted().localAddress().getPort());
    return new Sqs(server, wire, lock);
  }

  /** Service Bus: the broker ends the locks. */
  static CloudQueues serviceBus() {
    return new ServiceBus(ServiceBusTestServer.start());
  }

  /** ElasticMQ behind a {@link Wire}. */
  record Sqs(SQSRestServer server, Wire wire, Duration lock) implements CloudQueues {
    @Override
    public String yaml() {
      return """
      queues:
        provider: sqs
        sqs: { region: us-east-1, endpoint: "http://127.0.0.1:%d", prefix: "it-" }
      """
          .formatted(wire.port());
    }

    @Override
    public void dropConnections() {
      wire.cut();
    }

    @Override
    public void endLocks(String queue) throws InterruptedException {
      wire.down(true);
      // Real time must pass: the test server's clock cannot be moved.
      boolean unused =
          new CountDownLatch(1).await(lock.plusMillis(500).toMillis(), TimeUnit.MILLISECONDS);
      wire.down(false);
    }

    @Override
    public void close() throws IOException {
      wire.close();
      server.stopAndWait();
    }
  }

  /** The Service Bus broker of the module servicebus-testserver. */
  record ServiceBus(ServiceBusTestServer server) implements CloudQueues {
    @Override
    public String yaml() {
      return """
      queues:
        provider: servicebus
        servicebus: { connection_string: "%s", administration_endpoint: "%s" }
      """
          .formatted(server.connectionString(), server.administrationEndpoint());
    }

    @Override
    public void dropConnections() {
      server.faults().dropConnections();
    }

    @Override
    public void endLocks(String queue) {
      server.faults().expireSessionLocks(queue);
    }

    @Override
    public void close() {
      server.close();
    }
  }
}
