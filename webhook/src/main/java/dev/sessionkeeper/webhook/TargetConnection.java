package dev.sessionkeeper.webhook;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

/** A connection to a checked address. Serves one request at a time. */
final class TargetConnection {
  /**
   * The target of a connection. Two requests may share a connection only if their targets are
   * equal: the certificate was verified against the name, and the guard allowed the address for
   * each of them.
   */
  record Target(boolean secure, String host, InetSocketAddress address) {}

  private final Target target;
  private final SocketChannel channel;
  private Socket socket;
  private InputStream in = InputStream.nullInputStream();

  private TargetConnection(Target target, SocketChannel channel) {
    this.target = target;
    this.channel = channel;
    this.socket = channel.socket();
  }

  /** Returns an unconnected connection; closing it ends any operation in progress. */
  static TargetConnection to(Target target) throws IOException {
    return new TargetConnection(target, SocketChannel.open());
  }

  void open(SSLContext tls, Duration timeout) throws IOException {
    int millis = millis(timeout);
    socket.setTcpNoDelay(true);
    socket.connect(target.address(), millis);
    // In case the timer is late, no single read waits longer than the whole call may take.
    socket.setSoTimeout(millis);
    if (target.secure()) {
      socket = secure(tls);
    }
    in = new BufferedInputStream(socket.getInputStream());
  }

  private SSLSocket secure(SSLContext tls) throws IOException {
    var secured =
        (SSLSocket)
            tls.getSocketFactory()
                .createSocket(socket, target.host(), target.address().getPort(), true);
    var parameters = secured.getSSLParameters();
    parameters.setEndpointIdentificationAlgorithm("HTTPS");
    secured.setSSLParameters(parameters);
    secured.startHandshake();
    return secured;
  }

  Target target() {
    return target;
  }

  InputStream in() {
    return in;
  }

  OutputStream out() throws IOException {
    return socket.getOutputStream();
  }

  /** Sets how long one read waits from now on. */
  void patience(Duration most) throws IOException {
    socket.setSoTimeout(millis(most));
  }

  /** Returns whether neither bytes nor the end of the stream have arrived since the last answer. */
  boolean isQuiet() {
    try {
      if (in.available() > 0) {
        return false;
      }
      channel.configureBlocking(false);
      try {
        return channel.read(ByteBuffer.allocate(1)) == 0;
      } finally {
        channel.configureBlocking(true);
      }
    } catch (IOException gone) {
      return false;
    }
  }

  void close() {
    try {
      channel.close();
    } catch (IOException e) {
      // Closing failed; there is nothing else to close.
      return;
    }
  }

  private static int millis(Duration duration) {
    return Math.clamp(duration.toMillis(), 1, Integer.MAX_VALUE);
  }
}
