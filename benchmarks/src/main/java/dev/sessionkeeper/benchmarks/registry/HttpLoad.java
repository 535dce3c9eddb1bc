package dev.sessionkeeper.benchmarks.registry;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.function.IntFunction;

/**
 * Sends PUT requests over kept-alive connections, one after the other on each. A client of the JDK
 * would use more of the machine than the measured server.
 */
final class HttpLoad {
  private final int port;
  private final int clients;
  private final Duration time;

  HttpLoad(int port, int clients, Duration time) {
    this.port = port;
    this.clients = clients;
    this.time = time;
  }

  /** The result of a run. */
  record Result(
      double perSecond, double p50Millis, double p99Millis, Map<Integer, Long> statuses) {}

  /**
   * Runs the load.
   *
   * @param bodies the next body of a client, by its number
   */
  Result put(String path, IntFunction<String> bodies) throws Exception {
    long end = System.nanoTime() + time.toNanos();
    long started = System.nanoTime();
    var runs = new ArrayList<Run>();
    try (var threads = Executors.newFixedThreadPool(clients)) {
      var futures = new ArrayList<java.util.concurrent.Future<Run>>();
      for (int i = 0; i < clients; i++) {
        int client = i;
        futures.add(threads.submit(() -> client(path, () -> bodies.apply(client), end)));
      }
      for (var future : futures) {
        runs.add(future.get());
      }
    }
    double seconds = (System.nanoTime() - started) / 1e9;
    return result(runs, seconds);
  }

  private record Run(long[] nanos, Map<Integer, Long> statuses) {}

  private Run client(String path, java.util.function.Supplier<String> bodies, long end)
      throws IOException {
    var nanos = new long[1 << 20];
    int count = 0;
    var statuses = new TreeMap<Integer, Long>();
    try (var socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setTcpNoDelay(true);
      var in = new BufferedInputStream(socket.getInputStream(), 16_384);
      var out = socket.getOutputStream();
      while (System.nanoTime() < end && count < nanos.length) {
        var body = bodies.get();
        var request =
            "PUT "
                + path
                + " HTTP/1.1\r\nHost: 127.0.0.1:"
                + port
                + "\r\nContent-Type: application/json\r\nContent-Length: "
                + body.length()
                + "\r\n\r\n"
                + body;
        long sent = System.nanoTime();
        out.write(request.getBytes(StandardCharsets.US_ASCII));
        statuses.merge(answer(in), 1L, Long::sum);
        nanos[count++] = System.nanoTime() - sent;
      }
    }
    return new Run(Arrays.copyOf(nanos, count), statuses);
  }

  private static int answer(InputStream in) throws IOException {
    var status = Integer.parseInt(line(in).substring(9, 12));
    int length = 0;
    for (var header = line(in); !header.isEmpty(); header = line(in)) {
      if (header.regionMatches(true, 0, "content-length:", 0, 15)) {
        length = Integer.parseInt(header.substring(15).strip());
      }
    }
    in.skipNBytes(length);
    return status;
  }

  private static String line(InputStream in) throws IOException {
    var text = new StringBuilder();
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        throw new IOException("the server closed the connection");
      }
      if (c != '\r') {
        text.append((char) c);
      }
    }
    return text.toString();
  }

  private static Result result(List<Run> runs, double seconds) {
    var all = runs.stream().flatMapToLong(run -> Arrays.stream(run.nanos())).sorted().toArray();
    var statuses = new TreeMap<Integer, Long>();
    runs.forEach(run -> run.statuses().forEach((s, n) -> statuses.merge(s, n, Long::sum)));
    return new Result(
        all.length / seconds,
        all[all.length / 2] / 1e6,
        all[(int) (all.length * 0.99)] / 1e6,
        statuses);
  }
}
