package dev.sessionkeeper.server.streams;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A reader on a bare socket, which shows the bytes on the wire. */
final class RawReader implements AutoCloseable {
  final List<String> lines = new CopyOnWriteArrayList<>();
  private final Socket socket;
  private volatile boolean ended;

  /** Connects and reads until either side closes. */
  RawReader(int port, String path, String... headers) throws IOException {
    this(connect(port, path, 0, headers));
    Thread.ofVirtual().start(this::read);
  }

  private RawReader(Socket socket) {
    this.socket = socket;
  }

  /** Connects with a small buffer and reads nothing until {@link #readOn}. */
  static RawReader thatDoesNotRead(int port, String path) throws IOException {
    return new RawReader(connect(port, path, 4096));
  }

  void readOn() {
    Thread.ofVirtual().start(this::read);
  }

  private static Socket connect(int port, String path, int buffer, String... headers)
      throws IOException {
    var socket = new Socket();
    if (buffer > 0) {
      socket.setReceiveBufferSize(buffer);
    }
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    var head = new StringBuilder("GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n");
    for (var header : headers) {
      head.append(header).append("\r\n");
    }
    socket.getOutputStream().write(head.append("\r\n").toString().getBytes(StandardCharsets.UTF_8));
    return socket;
  }

  private void read() {
    try (var in =
        new BufferedReader(
            new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8))) {
      for (var line = in.readLine(); line != null; line = in.readLine()) {
        lines.add(line);
      }
    } catch (IOException e) {
      lines.add("broke off: " + e.getMessage());
    }
    ended = true;
  }

  boolean hasEnded() {
    return ended;
  }

  /** Returns the ids of the events so far. */
  List<Long> ids() {
    return lines.stream()
        .filter(line -> line.startsWith("id: "))
        .map(line -> Long.valueOf(line.substring(4)))
        .toList();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
