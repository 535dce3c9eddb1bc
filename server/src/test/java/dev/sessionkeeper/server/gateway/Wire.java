package dev.sessionkeeper.server.gateway;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** A network path to a local server, which a test can cut. */
final class Wire implements AutoCloseable {
  private final ServerSocket entrance;
  private final int target;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private volatile boolean down;

  Wire(int target) throws IOException {
    this.target = target;
    entrance = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().start(this::take);
  }

  int port() {
    return entrance.getLocalPort();
  }

  /** Cuts every connection in the middle of its traffic; new ones are accepted at once. */
  void cut() {
    open.forEach(Wire::end);
  }

  /** Cuts every connection, and accepts none until the path is up again. */
  void down(boolean isDown) {
    down = isDown;
    if (isDown) {
      cut();
    }
  }

  private void take() {
    try {
      while (true) {
        var near = entrance.accept();
        if (down) {
          end(near);
        } else {
          connect(near);
        }
      }
    } catch (IOException e) {
      // Closed.
    }
  }

  private void connect(Socket near) {
    var far = new Socket();
    open.add(near);
    open.add(far);
    try {
      far.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), target));
      Thread.ofVirtual().start(() -> carry(near, far));
      Thread.ofVirtual().start(() -> carry(far, near));
    } catch (IOException e) {
      end(near);
      end(far);
    }
  }

  private void carry(Socket from, Socket to) {
    try {
      from.getInputStream().transferTo(to.getOutputStream());
    } catch (IOException e) {
      // Cut, or ended by the other side.
    } finally {
      end(from);
      end(to);
      open.remove(from);
      open.remove(to);
    }
  }

  private static void end(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // The connection is closed already.
    }
  }

  @Override
  public void close() throws IOException {
    entrance.close();
    cut();
  }
}
