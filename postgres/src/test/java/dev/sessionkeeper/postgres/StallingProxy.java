package dev.sessionkeeper.postgres;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;

/**
 * Forwards connections to a server until it stalls. From then on no byte passes in either direction
 * and no connection ends, as when the client's process is suspended.
 */
final class StallingProxy implements Closeable {
  private static final int WINDOW = 32 << 10;

  private final ServerSocket listener;
  private final int target;
  private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();
  private final CountDownLatch stalled = new CountDownLatch(1);
  private final CountDownLatch closed = new CountDownLatch(1);

  /** The size of the answer that passes last, and only in part. */
  private final int stallsAt;

  private volatile boolean isArmed;

  private StallingProxy(ServerSocket listener, int target, int stallsAt) {
    this.listener = listener;
    this.target = target;
    this.stallsAt = stallsAt;
  }

  static StallingProxy to(int port, int stallsAt) throws IOException {
    var listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    var proxy = new StallingProxy(listener, port, stallsAt);
    Thread.ofVirtual().start(proxy::accept);
    return proxy;
  }

  int port() {
    return listener.getLocalPort();
  }

  /** Makes the proxy freeze at the next large answer. */
  void arm() {
    isArmed = true;
  }

  void awaitStall() throws InterruptedException {
    stalled.await();
  }

  private void accept() {
    try {
      while (true) {
        var client = listener.accept();
        var server = new Socket();
        // No more is on the way than over a network.
        server.setReceiveBufferSize(WINDOW);
        server.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), target));
        sockets.add(client);
        sockets.add(server);
        Thread.ofVirtual().start(() -> forward(client, server, false));
        Thread.ofVirtual().start(() -> forward(server, client, true));
      }
    } catch (IOException e) {
      // Closed.
    }
  }

  private void forward(Socket from, Socket to, boolean isAnswer) {
    try {
      copy(from.getInputStream(), to.getOutputStream(), isAnswer);
      to.shutdownOutput();
    } catch (IOException e) {
      // One side has ended; the other one notices.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void copy(InputStream in, OutputStream out, boolean isAnswer)
      throws IOException, InterruptedException {
    var buffer = new byte[64 << 10];
    for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
      if (isArmed && isAnswer && n >= stallsAt) {
        stalled.countDown();
      }
      if (stalled.getCount() == 0) {
        closed.await();
        return;
      }
      out.write(buffer, 0, n);
      out.flush();
    }
  }

  @Override
  public void close() throws IOException {
    closed.countDown();
    listener.close();
    for (var socket : sockets) {
      socket.close();
    }
  }
}
