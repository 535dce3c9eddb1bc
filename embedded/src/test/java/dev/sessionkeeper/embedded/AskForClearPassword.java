package dev.sessionkeeper.embedded;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;

/** Pretends to be PostgreSQL on a port, and asks every client for its password in clear text. */
final class AskForClearPassword implements AutoCloseable {
  private static final byte[] CLEAR_TEXT_PLEASE = {'R', 0, 0, 0, 8, 0, 0, 0, 3};

  private final ServerSocket listener = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
  private final ByteArrayOutputStream heard = new ByteArrayOutputStream();
  private final Thread thread = Thread.ofVirtual().unstarted(this::serve);

  AskForClearPassword() throws IOException {
    thread.start();
  }

  int port() {
    return listener.getLocalPort();
  }

  /** Returns what clients have sent so far; their connections end when they give up. */
  String stolen() throws Exception {
    close();
    thread.join();
    return heard.toString(StandardCharsets.ISO_8859_1);
  }

  private void serve() {
    while (!listener.isClosed()) {
      try (var client = listener.accept()) {
        client.setSoTimeout(2000);
        var bytes = new byte[4096];
        int startup = client.getInputStream().read(bytes);
        client.getOutputStream().write(CLEAR_TEXT_PLEASE);
        int answer = startup < 0 ? -1 : client.getInputStream().read(bytes);
        if (answer > 0) {
          heard.write(bytes, 0, answer);
        }
      } catch (IOException e) {
        heard.writeBytes("(end)".getBytes(StandardCharsets.ISO_8859_1));
      }
    }
  }

  @Override
  public void close() throws IOException {
    listener.close();
  }
}
