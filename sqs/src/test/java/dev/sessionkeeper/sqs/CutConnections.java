package dev.sessionkeeper.sqs;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/** A proxy in front of SQS that cuts connections after a request arrived there and was answered. */
final class CutConnections implements AutoCloseable {
  private static final String TARGET = "AmazonSQS.";

  private final ServerSocket server;
  private final int port;
  private final Map<String, AtomicInteger> cuts = new ConcurrentHashMap<>();
  private volatile boolean away;

  CutConnections(int port) {
    this.port = port;
    try {
      server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Thread.ofVirtual().start(this::accept);
  }

  URI endpoint() {
    return URI.create("http://127.0.0.1:" + server.getLocalPort());
  }

  /** Loses the answers to the next calls of this operation. */
  void loseAnswers(String operation, int count) {
    cuts.put(operation, new AtomicInteger(count));
  }

  /** While away, the proxy closes every connection at once. */
  void away(boolean isAway) {
    away = isAway;
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        var client = server.accept();
        if (away) {
          client.close();
          continue;
        }
        var upstream = new Socket(InetAddress.getLoopbackAddress(), port);
        var operation = new AtomicReference<>("");
        Thread.ofVirtual().start(() -> requests(client, upstream, operation));
        Thread.ofVirtual().start(() -> answers(client, upstream, operation));
      } catch (IOException e) {
        // The connection is closed, or the server is away; the client notices by itself.
      }
    }
  }

  private void requests(Socket client, Socket upstream, AtomicReference<String> operation) {
    try (client;
        upstream) {
      var buffer = new byte[65_536];
      InputStream in = client.getInputStream();
      OutputStream out = upstream.getOutputStream();
      for (int count = in.read(buffer); count >= 0 && !away; count = in.read(buffer)) {
        var text = new String(buffer, 0, count, StandardCharsets.ISO_8859_1);
        int at = text.indexOf(TARGET);
        if (at >= 0) {
          int end = text.indexOf('\r', at);
          operation.set(text.substring(at + TARGET.length(), end));
        }
        out.write(buffer, 0, count);
        out.flush();
      }
    } catch (IOException e) {
      // One side has closed, so the other one is closed too.
    }
  }

  private void answers(Socket client, Socket upstream, AtomicReference<String> operation) {
    try (client;
        upstream) {
      var buffer = new byte[65_536];
      InputStream in = upstream.getInputStream();
      OutputStream out = client.getOutputStream();
      for (int count = in.read(buffer); count >= 0 && !away; count = in.read(buffer)) {
        if (takeCut(operation.get())) {
          return;
        }
        out.write(buffer, 0, count);
        out.flush();
      }
    } catch (IOException e) {
      // The connection is closed, or the server is away; the client notices by itself.
    }
  }

  private boolean takeCut(String operation) {
    var left = cuts.get(operation);
    return left != null && left.getAndUpdate(count -> Math.max(0, count - 1)) > 0;
  }

  @Override
  public void close() {
    try {
      server.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
