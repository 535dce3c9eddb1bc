package dev.sessionkeeper.server;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A connection that reads an event stream until it ends. */
public final class OpenStream implements AutoCloseable {
  private final Socket socket;
  private final CompletableFuture<String> open = new CompletableFuture<>();
  private final CompletableFuture<Void> end = new CompletableFuture<>();

  private OpenStream(Socket socket) {
    this.socket = socket;
    Thread.ofVirtual().name("open-stream").start(this::read);
  }

  /** Opens the stream with these headers. */
  public static OpenStream of(TestServer server, String stream, Map<String, String> headers) {
    var request = new StringBuilder("GET /streams/" + stream + "/events HTTP/1.1\r\n");
    request.append("Host: 127.0.0.1\r\n");
    headers.forEach((name, value) -> request.append(name + ": " + value + "\r\n"));
    request.append("\r\n");
    try {
      var socket = new Socket("127.0.0.1", server.port());
      socket.getOutputStream().write(request.toString().getBytes(StandardCharsets.US_ASCII));
      return new OpenStream(socket);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private void read() {
    try (var lines =
        new BufferedReader(
            new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8))) {
      var status = lines.readLine();
      for (var line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.startsWith("retry:")) {
          open.complete(status);
        }
        if (line.equals("0")) { // The last chunk.
          end.complete(null);
        }
      }
      end.complete(null);
    } catch (IOException e) {
      end.complete(null);
    }
  }

  /** Waits until the server has written the first bytes. */
  public void awaitOpen() {
    open.orTimeout(30, TimeUnit.SECONDS).join();
  }

  public boolean hasEnded() {
    return end.isDone();
  }

  /** Waits until the server has ended the stream. */
  public void awaitEnd() {
    end.orTimeout(30, TimeUnit.SECONDS).join();
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
