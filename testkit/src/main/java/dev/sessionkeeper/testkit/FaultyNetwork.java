package dev.sessionkeeper.testkit;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A TCP proxy between a client and a server on loopback that fails on demand: it cuts a connection
 * after the server has done what it was asked and before the client hears of it, or it lets nothing
 * pass any more, as a frozen process does.
 */
public final class FaultyNetwork implements AutoCloseable {
  private static final int BUFFER = 1 << 16;

  private final ServerSocket listener;
  private final int target;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private final AtomicInteger cuts = new AtomicInteger();
  private volatile CountDownLatch frozen = new CountDownLatch(0);
  private String cutAfter = "";
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
   * Cuts the connection on which the client next sends this text: the server gets it and answers,
   * the client gets no answer. Once.
   */
  public synchronized void cutAnswerTo(String text) {
    cutAfter = text;
  }

  private synchronized boolean takeCut(byte[] sent) {
    boolean isWanted =
        !cutAfter.isEmpty() && new String(sent, StandardCharsets.ISO_8859_1).contains(cutAfter);
    if (isWanted) {
      cutAfter = "";
    }
    return isWanted;
  }

  /** How often a connection was cut. */
  public int cuts() {
    return cuts.get();
  }

  /** Refuses new connections from now on, or takes them again. */
  public void refuse(boolean now) {
    refusing = now;
  }

  /** Refuses new connections once a connection was cut. */
  public void refuseAfterCut() {
    refusingAfterCut = true;
  }

  /**
   * Stops forwarding bytes and ends of connections. A client that gives up waiting and closes its
   * side is not seen by the server, because a process that is really frozen closes nothing.
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
        var client = listener.accept();
        open.add(client);
        if (refusing) {
          client.close();
          continue;
        }
        var server = new Socket(InetAddress.getLoopbackAddress(), target);
        open.add(server);
        var link = new Link(client, server);
        Thread.ofVirtual().start(link::toServer);
        Thread.ofVirtual().start(link::toClient);
      } catch (IOException e) {
        // The listener was closed, or the server is away: the client sees its connection end.
        open.removeIf(Socket::isClosed);
      }
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
        end(client);
        end(server);
      }
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
      // It is gone either way.
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
