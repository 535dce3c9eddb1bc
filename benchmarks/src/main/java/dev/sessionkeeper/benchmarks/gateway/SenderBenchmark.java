package dev.sessionkeeper.benchmarks.gateway;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.sessionkeeper.time.TimeSource;
import dev.sessionkeeper.webhook.TargetGuard;
import dev.sessionkeeper.webhook.WebhookRequest;
import dev.sessionkeeper.webhook.WebhookResult;
import dev.sessionkeeper.webhook.WebhookSender;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.ArrayList;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Measures the benefit of kept connections: the same requests to an endpoint that closes after
 * every answer and to one that does not, in turn.
 */
public final class SenderBenchmark {
  private static final PrintStream OUT = System.out;
  private static final int THREADS = 32;
  private static final byte[] BODY = GitHubLoad.payload(1, 1, 10_000);

  private SenderBenchmark() {}

  public static void main(String[] arguments) throws Exception {
    int requests = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 10_000;
    int repetitions = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 5;
    try (var closing = endpoint("Connection: close\r\n");
        var keeping = endpoint("")) {
      for (int i = 0; i <= repetitions; i++) {
        double closed = rate(closing, requests);
        double kept = rate(keeping, requests);
        OUT.printf(
            Locale.ROOT,
            "%-8s a connection each %,8.0f /s   kept %,8.0f /s   kept : each = %.2f%n",
            i == 0 ? "warm-up" : "run " + i,
            closed,
            kept,
            kept / closed);
      }
    }
  }

  private static double rate(ServerSocket endpoint, int requests) throws Exception {
    var sender = WebhookSender.create(TimeSource.system());
    var url = URI.create("http://127.0.0.1:" + endpoint.getLocalPort() + "/hook");
    var next = new AtomicInteger();
    Callable<Void> worker =
        () -> {
          while (next.getAndIncrement() < requests) {
            var request =
                WebhookRequest.json(url, "m", BODY).guardedBy(TargetGuard.allowingPrivate());
            if (!(sender.post(request) instanceof WebhookResult.Delivered)) {
              throw new IllegalStateException("A request was not answered");
            }
          }
          return null;
        };
    long started = System.nanoTime();
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var workers = new ArrayList<Callable<Void>>();
      for (int i = 0; i < THREADS; i++) {
        workers.add(worker);
      }
      for (var one : threads.invokeAll(workers)) {
        one.get();
      }
    }
    return requests / ((System.nanoTime() - started) / 1e9);
  }

  /** Reads requests of one length and answers each. */
  private static ServerSocket endpoint(String header) throws IOException {
    var server = new ServerSocket(0, 512, InetAddress.getLoopbackAddress());
    var answer = ("HTTP/1.1 204 No Content\r\n" + header + "\r\n").getBytes(US_ASCII);
    Thread.ofVirtual()
        .start(
            () -> {
              while (!server.isClosed()) {
                try {
                  var socket = server.accept();
                  Thread.ofVirtual().start(() -> serve(socket, answer, !header.isEmpty()));
                } catch (IOException closed) {
                  return;
                }
              }
            });
    return server;
  }

  private static void serve(Socket socket, byte[] answer, boolean closes) {
    try (socket) {
      socket.setTcpNoDelay(true);
      var in = new BufferedInputStream(socket.getInputStream(), 16 << 10);
      while (readHead(in)) {
        in.skipNBytes(BODY.length);
        socket.getOutputStream().write(answer);
        if (closes) {
          return;
        }
      }
    } catch (IOException gone) {
      return;
    }
  }

  private static boolean readHead(BufferedInputStream in) throws IOException {
    for (int last = 0; ; ) {
      int c = in.read();
      if (c < 0) {
        return false;
      }
      last = (last << 8) | c;
      if (last == 0x0d0a0d0a) {
        return true;
      }
    }
  }
}
