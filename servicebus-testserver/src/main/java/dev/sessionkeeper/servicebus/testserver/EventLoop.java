package dev.sessionkeeper.servicebus.testserver;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.time.InstantSource;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread of the server: accepts, reads, writes, and runs due tasks.
 *
 * <p>Connections, links and queues are used on this thread only; other threads come in through
 * {@link #call}.
 */
final class EventLoop implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(EventLoop.class);
  private static final long TICK_MILLIS = 20;

  private final Selector selector;
  private final ServerSocketChannel listener;
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final Set<ClientConnection> connections = new LinkedHashSet<>();
  private final InstantSource clock;
  private final Broker broker;
  private final Faults faults;
  private final Thread thread;
  private volatile boolean closed;

  EventLoop(InstantSource clock, Broker broker, Faults faults) throws IOException {
    this.clock = clock;
    this.broker = broker;
    this.faults = faults;
    selector = Selector.open();
    listener = ServerSocketChannel.open();
    listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    listener.configureBlocking(false);
    listener.register(selector, SelectionKey.OP_ACCEPT);
    thread = Thread.ofPlatform().daemon().name("servicebus-testserver").unstarted(this::run);
  }

  void start() {
    thread.start();
  }

  int port() {
    return listener.socket().getLocalPort();
  }

  /** Runs the task on the loop and waits for its result. */
  <T> T call(Callable<T> task) {
    var result = new CompletableFuture<T>();
    tasks.add(
        () -> {
          try {
            result.complete(task.call());
          } catch (Exception e) {
            result.completeExceptionally(e);
          }
        });
    selector.wakeup();
    return result.join();
  }

  void eachConnection(Consumer<ClientConnection> action) {
    List.copyOf(connections).forEach(action);
  }

  private void run() {
    long nextTick = 0;
    while (!closed) {
      try {
        selector.select(TICK_MILLIS);
        runTasks();
        serveReadyKeys();
        long now = clock.millis();
        if (now >= nextTick || now < nextTick - TICK_MILLIS) {
          nextTick = now + TICK_MILLIS;
          broker.tick(now);
          eachConnection(connection -> connection.tick(now));
        }
        eachConnection(ClientConnection::write);
      } catch (IOException | RuntimeException e) {
        log.error("The loop failed once and continues", e);
      }
    }
  }

  private void runTasks() {
    for (var task = tasks.poll(); task != null; task = tasks.poll()) {
      task.run();
    }
  }

  private void serveReadyKeys() throws IOException {
    for (var key : selector.selectedKeys()) {
      if (key.isValid() && key.isAcceptable()) {
        accept();
      } else if (key.isValid() && key.isReadable()) {
        ((ClientConnection) key.attachment()).read();
      }
    }
    selector.selectedKeys().clear();
  }

  private void accept() throws IOException {
    var channel = listener.accept();
    if (channel == null) {
      return;
    }
    channel.configureBlocking(false);
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    var key = channel.register(selector, SelectionKey.OP_READ);
    var connection = new ClientConnection(channel, key, broker, faults, clock, connections::remove);
    key.attach(connection);
    connections.add(connection);
  }

  @Override
  public void close() {
    closed = true;
    selector.wakeup();
    try {
      thread.join(2000);
      eachConnection(ClientConnection::drop);
      listener.close();
      selector.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
