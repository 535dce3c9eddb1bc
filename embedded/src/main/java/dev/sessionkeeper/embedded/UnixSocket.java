package dev.sessionkeeper.embedded;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;

/**
 * A Unix domain socket as the PostgreSQL driver needs it: a {@link Socket} whose reads time out and
 * can be repeated.
 *
 * <p>Threads: one reads and one writes at a time; any thread may close it. The channel is
 * non-blocking, because a blocking channel has no timeout: reading and writing wait in a selector
 * each. As with other sockets, an interrupt closes the socket of a virtual thread only.
 */
final class UnixSocket extends Socket {
  private final Path path;
  private final In in = new In();
  private final Out out = new Out();
  private volatile State state = State.NEW;
  private volatile int timeoutMillis;

  /** The state of the connection in one reference, so that close sees a consistent state. */
  private sealed interface State {
    State NEW = new Unconnected();

    record Unconnected() implements State {}

    record Connected(SocketChannel channel, Selector readable, Selector writable) implements State {
      /** Closes the channel and both selectors; a thread that waits in a selector returns. */
      void close() throws IOException {
        readable.close();
        writable.close();
        channel.close();
      }
    }

    record Closed() implements State {}
  }

  UnixSocket(Path path) {
    this.path = path;
  }

  @Override
  public void connect(SocketAddress ignored) throws IOException {
    connect(ignored, 0);
  }

  /** Connects to the path. A local listener accepts at once or refuses, so no timeout is needed. */
  @Override
  public void connect(SocketAddress ignored, int timeout) throws IOException {
    var channel = SocketChannel.open(UnixDomainSocketAddress.of(path));
    try {
      channel.configureBlocking(false);
      var readable = Selector.open();
      var writable = Selector.open();
      channel.register(readable, SelectionKey.OP_READ);
      channel.register(writable, SelectionKey.OP_WRITE);
      state = new State.Connected(channel, readable, writable);
    } catch (IOException e) {
      channel.close();
      throw e;
    }
  }

  @Override
  public boolean isConnected() {
    return !(state instanceof State.Unconnected);
  }

  @Override
  public boolean isClosed() {
    return state instanceof State.Closed;
  }

  @Override
  public synchronized void close() throws IOException {
    if (state instanceof State.Connected open) {
      state = new State.Closed();
      open.close();
    }
  }

  @Override
  public InputStream getInputStream() {
    return in;
  }

  @Override
  public OutputStream getOutputStream() {
    return out;
  }

  @Override
  public void setSoTimeout(int millis) {
    timeoutMillis = millis;
  }

  @Override
  public int getSoTimeout() {
    return timeoutMillis;
  }

  // TCP options have no meaning for a local socket, and are ignored.

  @Override
  public void setTcpNoDelay(boolean on) {}

  @Override
  public void setKeepAlive(boolean on) {}

  @Override
  public void setSoLinger(boolean on, int seconds) {}

  @Override
  public void setSendBufferSize(int size) {}

  @Override
  public void setReceiveBufferSize(int size) {}

  private State.Connected connected() throws SocketException {
    return switch (state) {
      case State.Connected open -> open;
      case State.Closed closed -> throw new SocketException("The socket is closed");
      case State.Unconnected none -> throw new SocketException("The socket is not connected");
    };
  }

  /**
   * Waits until the selector's one channel is ready.
   *
   * @throws java.net.SocketTimeoutException if that took longer than the timeout
   */
  private void await(Selector selector) throws IOException {
    var wait = new SocketDeadline(timeoutMillis);
    boolean wasInterrupted = false;
    try {
      while (selector.select(wait.millisLeft()) == 0) {
        connected();
        if (Thread.currentThread().isInterrupted()) {
          closeUnderVirtualThread();
          wasInterrupted = Thread.interrupted();
        }
      }
      selector.selectedKeys().clear();
    } catch (ClosedSelectorException e) {
      throw new SocketException("The socket was closed", e);
    } finally {
      if (wasInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void closeUnderVirtualThread() throws IOException {
    if (Thread.currentThread().isVirtual()) {
      close();
      throw new SocketException("The socket was closed by an interrupt");
    }
  }

  private final class In extends InputStream {
    @Override
    public int read() throws IOException {
      var one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      if (length == 0) {
        return 0;
      }
      var buffer = ByteBuffer.wrap(bytes, offset, length);
      while (true) {
        var open = connected();
        int count = open.channel().read(buffer);
        if (count != 0) {
          return count;
        }
        await(open.readable());
      }
    }

    @Override
    public void close() throws IOException {
      UnixSocket.this.close();
    }
  }

  private final class Out extends OutputStream {
    @Override
    public void write(int one) throws IOException {
      write(new byte[] {(byte) one}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      var buffer = ByteBuffer.wrap(bytes, offset, length);
      while (buffer.hasRemaining()) {
        var open = connected();
        if (open.channel().write(buffer) == 0) {
          await(open.writable());
        }
      }
    }

    @Override
    public void close() throws IOException {
      UnixSocket.this.close();
    }
  }
}
