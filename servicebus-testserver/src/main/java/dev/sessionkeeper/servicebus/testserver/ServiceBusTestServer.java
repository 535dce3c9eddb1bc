package dev.sessionkeeper.servicebus.testserver;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.InstantSource;

/**
 * An Azure Service Bus for the SDK, in this process, on a free port of the loopback address.
 *
 * <p>It implements our reading of the protocol: a test that passes here proves the path through the
 * SDK, not Azure. Supported: queues with and without sessions, session state, lock renewal, dead
 * letters, deferral, scheduling, duplicate detection, time to live, and the queue part of the
 * administration API. Missing: topics, transactions, TLS and forwarding. Nothing is stored on disk.
 */
public final class ServiceBusTestServer implements AutoCloseable {
  private final EventLoop loop;
  private final Broker broker;
  private final Faults faults;
  private final AnswerAdministration administration;

  private ServiceBusTestServer(InstantSource clock) throws IOException {
    broker = new Broker();
    faults = new Faults(broker);
    loop = new EventLoop(clock, broker, faults);
    faults.on(loop);
    administration = new AnswerAdministration(loop, broker);
  }

  /** Starts a server with the machine's clock. */
  public static ServiceBusTestServer start() {
    return start(InstantSource.system());
  }

  /** Starts a server whose locks and messages expire by the given clock. */
  public static ServiceBusTestServer start(InstantSource clock) {
    try {
      var server = new ServiceBusTestServer(clock);
      server.loop.start();
      server.administration.start();
      return server;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the text for {@code ServiceBusClientBuilder.connectionString}. */
  public String connectionString() {
    return "Endpoint=sb://localhost:"
        + loop.port()
        + ";SharedAccessKeyName=RootManageSharedAccessKey"
        + ";SharedAccessKey=any;UseDevelopmentEmulator=true";
  }

  /** Returns the address of the administration API, over plain HTTP. */
  public URI administrationEndpoint() {
    return administration.endpoint();
  }

  /**
   * Creates the queue with its dead-letter subqueue, or changes the existing one. A queue named
   * {@code TOPIC/Subscriptions/NAME} is a subscription, which receives messages sent to the topic.
   */
  public ServiceBusTestServer declare(String queue, QueueOptions options) {
    loop.call(() -> broker.declare(queue, options));
    return this;
  }

  /** Returns how many messages the queue holds; a subqueue is {@code NAME/$deadletterqueue}. */
  public int depth(String queue) {
    return loop.call(
        () ->
            broker.find(queue).orElseThrow().sessions().stream()
                .mapToInt(session -> session.messages.size())
                .sum());
  }

  /** Returns how many sessions of the queue are held. */
  public int heldSessions(String queue) {
    return loop.call(
        () ->
            (int)
                broker.find(queue).orElseThrow().sessions().stream()
                    .filter(session -> session.holder != null)
                    .count());
  }

  /** Returns how many sessions the queue remembers: those with a message, a state or a holder. */
  public int knownSessions(String queue) {
    return loop.call(() -> broker.find(queue).orElseThrow().sessions().size());
  }

  public Faults faults() {
    return faults;
  }

  @Override
  public void close() {
    administration.close();
    loop.close();
  }
}
