package dev.sessionkeeper.webhook;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A receiver that answers each connection with a script, byte by byte. */
final class RawReceiver implements AutoCloseable {
  /** Handles a connection whose request was read. */
  interface Script {
    void answer(Socket socket, String request) throws IOException, InterruptedException;
  }

  private final ServerSocket server;
  private final Script script;
  private final List<String> requests = new CopyOnWriteArrayList<>();
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();

  RawReceiver(Script script) throws IOException {
    this(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()), script);
  }

  RawReceiver(ServerSocket server, Script script) {
    this.server = server;
    this.script = script;
    Thread.ofVirtual().start(this::acceptAll);
  }

  static Script text(String answer) {
    return (socket, request) -> write(socket, answer);
  }

  static void write(Socket socket, String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(ISO_8859_1));
    socket.getOutputStream().flush();
  }

  int port() {
    return server.getLocalPort();
  }

  URI url() {
    return URI.create("http://127.0.0.1:" + port() + "/hook?x=1");
  }

  List<String> requests() {
    return requests;
  }

  @Override
  public void close() throws IOException {
    server.close();
    for (var socket : sockets) {
      socket.close();
    }
  }

  private void acceptAll() {
    while (!server.isClosed()) {
      try {
        var socket = server.accept();
        sockets.add(socket);
        Thread.ofVirtual().start(() -> serve(socket));
      } catch (IOException closed) {
        return;
      }
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      var request = read(socket.getInputStream());
      requests.add(request);
      script.answer(socket, request);
    } catch (IOException | InterruptedException gone) {
      return;
    }
  }

  private static String read(InputStream in) throws IOException {
    var head = new StringBuilder();
    while (head.indexOf("\r\n\r\n") < 0) {
      int c = in.read();
      if (c < 0) {
        throw new IOException("closed");
      }
      head.append((char) c);
    }
    int at = head.indexOf("Content-Length: ") + "Content-Length: ".length();
    int length = Integer.parseInt(head.substring(at, head.indexOf("\r\n", at)));
    return head + new String(in.readNBytes(Math.min(length, 1000)), ISO_8859_1);
  }
}
