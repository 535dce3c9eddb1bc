package dev.sessionkeeper.testkit;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;

/**
 * A TCP proxy between a client and a server on loopback that fails on demand. It cuts a connection
 * after the server has executed a request and before the client gets the answer, or it stops all
 * traffic, as a frozen process does.
 */
public final class FaultyNetwork implements AutoCloseable {
  private static final int BUFFER = 1 << 16;

  private final ServerSocket listener;
  private volatile int target;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private final Set<Link> links = ConcurrentHashMap.newKeySet();
  private final AtomicInteger cuts = new AtomicInteger();
  private volatile CountDownLatch frozen = new CountDownLatch(0);
  private String cutAfter = "";
  private volatile Duration delay = Duration.ZERO;
  private volatile boolean refusing;
  private volatile boolean refusingAfterCut;

  private FaultyNetwork(ServerSocket listener, int target) {
    this.listener = listener;
    this.target = target;
  }

  /** Starts on a free port of loopback. */
  public static FaultyNetwork to(int target) throws IOException {
    var network =
        new FaultyNetwork(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()), target);
    Thread.ofVirtual().name("faulty-network").start(network::acceptAll);
    return network;
  }

  public int port() {
    return listener.getLocalPort();
  }

  /**
   * Cuts the connection on which the client next sends this text, once: the server gets the request
   * and answers, the client gets no answer.
   */
  public synchronized void cutAnswerTo(String text) {
    cutAfter = text;
  }

  /** Cuts a random open connection now. Returns whether there was one. */
  public boolean cutOne(RandomGenerator random) {
    return anyLink(random).map(Link::cutNow).orElse(false);
  }

  /**
   * Cuts a random open connection when the server next answers on it, so that the client does not
   * learn the outcome of its request. Returns whether there was an open connection.
   */
  public boolean cutNextAnswer(RandomGenerator random) {
    var link = anyLink(random);
    link.ifPresent(chosen -> chosen.doomed = true);
    return link.isPresent();
  }

  private Optional<Link> anyLink(RandomGenerator random) {
    var all = List.copyOf(links);
    return all.isEmpty() ? Optional.empty() : Optional.of(all.get(random.nextInt(all.size())));
  }

  private synchronized boolean takeCut(byte[] sent) {
    boolean isWanted =
        !cutAfter.isEmpty() && new String(sent, StandardCharsets.ISO_8859_1).contains(cutAfter);
    if (isWanted) {
      cutAfter = "";
    }
    return isWanted;
  }

  /** Returns how many connections were cut. */
  public int cuts() {
    return cuts.get();
  }

  /** Connects to another port from now on, and cuts all open connections. */
  public void redirect(int port) {
    target = port;
    List.copyOf(links).forEach(Link::cutNow);
  }

  /** Delays each piece of data by a random time of at most this. */
  public void delay(Duration most) {
    delay = most;
  }

  /** Refuses new connections from now on, or accepts them again. */
  public void refuse(boolean now) {
    refusing = now;
  }

  /** Refuses new connections once a connection was cut. */
  public void refuseAfterCut() {
    refusingAfterCut = true;
  }

  /**
   * Stops forwarding bytes and ends of connections. If a client gives up and closes its side, the
   * server does not see that, because a process that is really frozen closes nothing.
   */
  public void freeze() {
    frozen = new CountDownLatch(1);
  }

  public void thaw() {
    frozen.countDown();
  }

  private void acceptAll() {
    while (!listener.isClosed()) {
      try {
        accept(listener.accept());
      } catch (IOException e) {
        // The listener was closed.
        open.removeIf(Socket::isClosed);
      }
    }
  }

  private void accept(Socket client) {
    open.add(client);
    try {
      if (refusing) {
        throw new IOException("New connections are refused");
      }
      var server = new Socket(InetAddress.getLoopbackAddress(), target);
      open.add(server);
      var link = new Link(client, server);
      links.add(link);
      Thread.ofVirtual().start(link::toServer);
      Thread.ofVirtual().start(link::toClient);
    } catch (IOException e) {
      // The server is away. The client is disconnected; otherwise it would wait for its first
      // answer for ever.
      end(client);
    }
  }

  private final class Link {
    private final Socket client;
    private final Socket server;
    private volatile boolean doomed;

    Link(Socket client, Socket server) {
      this.client = client;
      this.server = server;
    }

    void toServer() {
      pump(client, server, true);
    }

    void toClient() {
      pump(server, client, false);
    }

    private void pump(Socket from, Socket to, boolean isRequest) {
      try {
        InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream();
        var buffer = new byte[BUFFER];
        for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
          frozen.await();
          dawdle();
          if (isRequest && takeCut(Arrays.copyOf(buffer, n))) {
            doomed = true;
          }
          if (!isRequest && doomed) {
            cut();
            break;
          }
          out.write(buffer, 0, n);
          out.flush();
        }
      } catch (IOException e) {
        // One side has closed; the other one is closed below.
        doomed = true;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } finally {
        awaitThaw();
        links.remove(this);
        end(client);
        end(server);
      }
    }

    private void dawdle() throws InterruptedException {
      long most = delay.toNanos();
      if (most > 0) {
        TimeUnit.NANOSECONDS.sleep(ThreadLocalRandom.current().nextLong(most));
      }
    }

    private boolean cutNow() {
      cuts.incrementAndGet();
      links.remove(this);
      end(client);
      end(server);
      return true;
    }

    private void awaitThaw() {
      try {
        frozen.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private void cut() {
      if (refusingAfterCut) {
        refusing = true;
      }
      cuts.incrementAndGet();
    }
  }

  private void end(Socket socket) {
    open.remove(socket);
    try {
      socket.close();
    } catch (IOException e) {
      // The connection is closed in either case.
      open.remove(socket);
    }
  }

  @Override
  public void close() throws IOException {
    listener.close();
    thaw();
    open.forEach(this::end);
  }
}
