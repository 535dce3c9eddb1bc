package dev.sessionkeeper.benchmarks.peers;

import dev.sessionkeeper.benchmarks.postgres.Arm;
import dev.sessionkeeper.benchmarks.postgres.Load;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.activemq.artemis.api.core.ActiveMQException;
import org.apache.activemq.artemis.api.core.Message;
import org.apache.activemq.artemis.api.core.QueueConfiguration;
import org.apache.activemq.artemis.api.core.RoutingType;
import org.apache.activemq.artemis.api.core.SimpleString;
import org.apache.activemq.artemis.api.core.client.ActiveMQClient;
import org.apache.activemq.artemis.api.core.client.ClientMessage;
import org.apache.activemq.artemis.api.core.client.ClientSession;
import org.apache.activemq.artemis.api.core.client.MessageHandler;
import org.apache.activemq.artemis.api.core.client.ServerLocator;
import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.server.JournalType;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;

/**
 * ActiveMQ Artemis with message groups, over TCP, in this process: durable messages, and a NIO
 * journal that is synchronised for every commit and acknowledgement, with a buffer flushed after
 * 0.2 ms, which is this disk's latency. 16 consumers with a session and a connection each. Each
 * send is a transaction of the whole batch.
 */
final class ArtemisArm implements Arm {
  private static final String QUEUE = "bench";
  private static final int CONSUMERS = 16;
  private static final int FLUSH_NANOS = 200_000;
  private static final int ACK_BYTES = 64 * 1024;

  private final int perCommit;
  private final Path folder;
  private final EmbeddedActiveMQ server;
  private final ServerLocator locator;
  private final List<ClientSession> consuming = new ArrayList<>();

  private ArtemisArm(int perCommit, Path folder, EmbeddedActiveMQ server, ServerLocator locator) {
    this.perCommit = perCommit;
    this.folder = folder;
    this.server = server;
    this.locator = locator;
  }

  /** Acknowledges in blocks, without waiting for the answer, as by default. */
  static ArtemisArm withBlocks() throws Exception {
    return open(0);
  }

  /** Commits after so many messages, and waits until the journal is on disk. */
  static ArtemisArm withTransactions(int perCommit) throws Exception {
    return open(perCommit);
  }

  private static ArtemisArm open(int perCommit) throws Exception {
    var folder = Scratch.folder("artemis");
    var address = "tcp://127.0.0.1:" + Scratch.freePort();
    var settings =
        new ConfigurationImpl()
            .setPersistenceEnabled(true)
            .setSecurityEnabled(false)
            .setJMXManagementEnabled(false)
            .setJournalType(JournalType.NIO)
            .setJournalSyncTransactional(true)
            .setJournalSyncNonTransactional(true)
            .setJournalBufferTimeout_NIO(FLUSH_NANOS)
            .setJournalDirectory(folder.resolve("journal").toString())
            .setBindingsDirectory(folder.resolve("bindings").toString())
            .setLargeMessagesDirectory(folder.resolve("large").toString())
            .setPagingDirectory(folder.resolve("paging").toString())
            .addAcceptorConfiguration("tcp", address)
            .addQueueConfiguration(
                QueueConfiguration.of(QUEUE).setRoutingType(RoutingType.ANYCAST).setDurable(true));
    var server = new EmbeddedActiveMQ().setConfiguration(settings);
    server.start();
    var locator = ActiveMQClient.createServerLocator(address);
    return new ArtemisArm(perCommit, folder, server, locator);
  }

  @Override
  public Producer producer() throws Exception {
    var factory = locator.createSessionFactory();
    var session = factory.createSession(false, false);
    var producer = session.createProducer(QUEUE);
    return new Producer() {
      @Override
      public void send(int[] sessions, byte[][] bodies) throws ActiveMQException {
        for (int i = 0; i < sessions.length; i++) {
          var message = session.createMessage(true);
          message.getBodyBuffer().writeBytes(bodies[i]);
          message.putStringProperty(
              Message.HDR_GROUP_ID, SimpleString.of("customer-" + sessions[i]));
          producer.send(message);
        }
        session.commit();
      }

      @Override
      public void close() throws ActiveMQException {
        session.close();
        factory.close();
      }
    };
  }

  @Override
  public void consume(Load load) throws Exception {
    for (int i = 0; i < CONSUMERS; i++) {
      var session = locator.createSessionFactory().createSession(true, perCommit == 0, ACK_BYTES);
      session.createConsumer(QUEUE).setMessageHandler(new Handle(session, load));
      consuming.add(session);
    }
    for (var session : consuming) {
      session.start();
    }
  }

  /** Handles the messages of one session, which arrive one after the other. */
  private final class Handle implements MessageHandler {
    private final ClientSession session;
    private final Load load;
    private int open;

    Handle(ClientSession session, Load load) {
      this.session = session;
      this.load = load;
    }

    @Override
    public void onMessage(ClientMessage message) {
      var body = new byte[message.getBodySize()];
      message.getBodyBuffer().readBytes(body);
      load.handle(body);
      try {
        message.acknowledge();
        if (++open == perCommit) {
          session.commit();
          open = 0;
        }
      } catch (ActiveMQException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  @Override
  public void stopConsuming() {
    try {
      for (var session : consuming) {
        session.close();
      }
    } catch (ActiveMQException e) {
      throw new IllegalStateException(e);
    }
    consuming.clear();
  }

  @Override
  public void close() throws Exception {
    stopConsuming();
    locator.close();
    server.stop();
    Scratch.delete(folder);
  }
}
