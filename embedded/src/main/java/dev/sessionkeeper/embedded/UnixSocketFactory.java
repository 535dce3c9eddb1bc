package dev.sessionkeeper.embedded;

import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.file.Path;
import javax.net.SocketFactory;

/**
 * Connects the PostgreSQL driver to a Unix domain socket, whatever host and port it asks for.
 *
 * <p>The driver creates it by its name in the URL: {@code socketFactory} is this class and {@code
 * socketFactoryArg} the path of the socket.
 */
public final class UnixSocketFactory extends SocketFactory {
  private final Path path;

  /** Creates a factory for the socket at this path. */
  public UnixSocketFactory(String path) {
    this.path = Path.of(path);
  }

  @Override
  public Socket createSocket() {
    return new UnixSocket(path);
  }

  @Override
  public Socket createSocket(String host, int port) throws SocketException {
    throw connectsLater();
  }

  @Override
  public Socket createSocket(String host, int port, InetAddress localHost, int localPort)
      throws SocketException {
    throw connectsLater();
  }

  @Override
  public Socket createSocket(InetAddress host, int port) throws SocketException {
    throw connectsLater();
  }

  @Override
  public Socket createSocket(InetAddress host, int port, InetAddress localHost, int localPort)
      throws SocketException {
    throw connectsLater();
  }

  private SocketException connectsLater() {
    return new SocketException(
        "A Unix domain socket has no host and port; create it unconnected, then connect it to "
            + path);
  }
}
