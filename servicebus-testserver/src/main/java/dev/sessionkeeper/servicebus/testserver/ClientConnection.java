package dev.sessionkeeper.servicebus.testserver;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import jdk.net.ExtendedSocketOptions;
import org.apache.qpid.proton.Proton;
import org.apache.qpid.proton.engine.Collector;
import org.apache.qpid.proton.engine.Connection;
import org.apache.qpid.proton.engine.Event;
import org.apache.qpid.proton.engine.Sasl;
import org.apache.qpid.proton.engine.Transport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One client connection: moves bytes between its socket and the AMQP engine. Event loop only. */
final class ClientConnection {
  private static final Logger log = LoggerFactory.getLogger(ClientConnection.class);
  private static final int MAX_FRAME = 65_536;
  private static final int IDLE_MILLIS = 120_000;

  private final SocketChannel channel;
  private final SelectionKey key;
  private final Faults faults;
  private final InstantSource clock;
  private final Consumer<ClientConnection> onGone;
  private final AnswerLinks links;
  private final Transport transport = Proton.transport();
  private final Connection connection = Proton.connection();
  private final Collector collector = Proton.collector();
  private final ArrayDeque<Delayed> delayed = new ArrayDeque<>();
  private final boolean canAcknowledgeAtOnce;
  private boolean gone;

  ClientConnection(
      SocketChannel channel,
      SelectionKey key,
      Broker broker,
      Faults faults,
      InstantSource clock,
      Consumer<ClientConnection> onGone) {
    this.channel = channel;
    this.canAcknowledgeAtOnce =
        channel.supportedOptions().contains(ExtendedSocketOptions.TCP_QUICKACK);
    this.key = key;
    this.faults = faults;
    this.clock = clock;
    this.onGone = onGone;
    this.links = new AnswerLinks(broker, faults, clock, this::drop);
    transport.setMaxFrameSize(MAX_FRAME);
    transport.setIdleTimeout(IDLE_MILLIS);
    var sasl = transport.sasl();
    sasl.server();
    sasl.setMechanisms("ANONYMOUS");
    sasl.setListener(new AdmitEveryone());
    connection.collect(collector);
    transport.bind(connection);
  }

  void read() {
    try {
      int count;
      do {
        if (transport.capacity() < 0) {
          drop();
          return;
        }
        count = channel.read(transport.tail());
        acknowledgeAtOnce();
        if (count < 0) {
          drop();
          return;
        }
        transport.process();
        handleEvents();
      } while (count > 0 && !gone);
    } catch (IOException e) {
      drop();
    }
  }

  /**
   * Requests immediate TCP acknowledgements. The SDK uses Nagle's algorithm, which delays a small
   * write until the previous one is acknowledged, and the kernel would delay that by 40 ms. Linux
   * forgets the option, so it is set after every read.
   */
  private void acknowledgeAtOnce() throws IOException {
    if (canAcknowledgeAtOnce) {
      channel.setOption(ExtendedSocketOptions.TCP_QUICKACK, true);
    }
  }

  void tick(long now) {
    if (!gone) {
      transport.tick(now);
    }
  }

  void write() {
    if (gone) {
      return;
    }
    try {
      handleEvents();
      boolean blocked = faults.replyDelayMillis() > 0 ? writeLater() : writeNow();
      if (gone) {
        return;
      }
      if (transport.pending() < 0) {
        drop();
      } else if (key.isValid()) {
        key.interestOps(
            blocked ? SelectionKey.OP_READ | SelectionKey.OP_WRITE : SelectionKey.OP_READ);
      }
    } catch (IOException e) {
      drop();
    } catch (RuntimeException e) {
      // The engine's state is inconsistent: this connection is useless, and the others must not
      // wait for it.
      log.warn("A connection is cut, because the AMQP engine failed", e);
      drop();
    }
  }

  private boolean writeNow() throws IOException {
    if (writeDelayed(Long.MAX_VALUE)) {
      return true;
    }
    while (transport.pending() > 0) {
      int count = channel.write(transport.head());
      if (count <= 0) {
        return true;
      }
      transport.pop(count);
      handleEvents();
    }
    return false;
  }

  private boolean writeLater() throws IOException {
    int pending = transport.pending();
    if (pending > 0) {
      var copy = ByteBuffer.allocate(pending).put(transport.head()).flip();
      transport.pop(pending);
      delayed.add(new Delayed(copy, clock.millis() + faults.replyDelayMillis()));
    }
    return writeDelayed(clock.millis());
  }

  private boolean writeDelayed(long dueUntil) throws IOException {
    while (!delayed.isEmpty() && delayed.peek().due() <= dueUntil) {
      var bytes = delayed.peek().bytes();
      channel.write(bytes);
      if (bytes.hasRemaining()) {
        return true;
      }
      delayed.remove();
    }
    return false;
  }

  private void handleEvents() {
    for (var event = collector.peek(); event != null && !gone; event = collector.peek()) {
      try {
        handle(event);
      } catch (RuntimeException e) {
        log.error("An AMQP event could not be handled: {}", event.getType(), e);
      }
      collector.pop();
    }
  }

  private void handle(Event event) {
    switch (event.getType()) {
      case CONNECTION_REMOTE_OPEN -> {
        connection.setContainer("servicebus-testserver");
        connection.open();
      }
      case CONNECTION_REMOTE_CLOSE -> connection.close();
      case SESSION_REMOTE_OPEN -> {
        event.getSession().setIncomingCapacity(16 * Wire.MAX_MESSAGE_BYTES);
        event.getSession().open();
      }
      case SESSION_REMOTE_CLOSE -> {
        event.getSession().close();
        event.getSession().free();
      }
      case LINK_REMOTE_OPEN -> links.attached(event.getLink());
      case LINK_REMOTE_CLOSE, LINK_REMOTE_DETACH -> links.detached(event.getLink());
      case LINK_FLOW -> links.flowed(event.getLink());
      case DELIVERY -> links.delivered(event.getLink(), event.getDelivery());
      default -> {}
    }
  }

  /** Cuts the connection as a network failure would, and frees what it held. */
  void drop() {
    if (gone) {
      return;
    }
    gone = true;
    onGone.accept(this);
    key.cancel();
    try {
      channel.close();
    } catch (IOException e) {
      log.debug("A socket did not close", e);
    }
    links.allGone();
  }

  private record Delayed(ByteBuffer bytes, long due) {}

  /** Accepts every login; the SDK authenticates later with tokens, which are all accepted too. */
  private static final class AdmitEveryone implements org.apache.qpid.proton.engine.SaslListener {
    @Override
    public void onSaslInit(Sasl sasl, Transport transport) {
      sasl.done(Sasl.SaslOutcome.PN_SASL_OK);
    }

    @Override
    public void onSaslMechanisms(Sasl sasl, Transport transport) {}

    @Override
    public void onSaslChallenge(Sasl sasl, Transport transport) {}

    @Override
    public void onSaslResponse(Sasl sasl, Transport transport) {}

    @Override
    public void onSaslOutcome(Sasl sasl, Transport transport) {}
  }
}
