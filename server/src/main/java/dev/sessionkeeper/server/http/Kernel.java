package dev.sessionkeeper.server.http;

import dev.sessionkeeper.time.TimeSource;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.net.impl.ConnectionBase;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** The dependencies that all requests of a server share. */
final class Kernel {
  private static final Duration TICK = Duration.ofMillis(100);
  private static final Duration READMIT_EVERY = Duration.ofSeconds(30);

  private final Vertx vertx;
  private final RouteTable routes;
  private final Gate gate;
  private final RequestListener listener;
  private final TimeSource time;
  private final HttpOptions options;
  private final Cors cors;
  private final MemoryBudget requests;
  private final MemoryBudget answers;
  private final MemoryBudget streams;
  private final Set<Exchange> running = ConcurrentHashMap.newKeySet();
  private final Set<Exchange> open = ConcurrentHashMap.newKeySet();
  private final ThreadFactory threads = Thread.ofVirtual().name("request-", 0).factory();
  private final AtomicInteger connections = new AtomicInteger();
  private final AtomicLong admissions = new AtomicLong();
  private volatile boolean leaving;
  private volatile boolean draining;

  Kernel(
      Vertx vertx,
      RouteTable routes,
      Gate gate,
      RequestListener listener,
      TimeSource time,
      HttpOptions options) {
    this.vertx = vertx;
    this.routes = routes;
    this.gate = gate;
    this.listener = listener;
    this.time = time;
    this.options = options;
    this.cors = new Cors(options.origins());
    this.requests = new MemoryBudget(options.bufferedBytes());
    this.answers = new MemoryBudget(options.bufferedBytes());
    this.streams = new MemoryBudget(options.bufferedBytes());
  }

  /** Starts the timer that gives up requests that take too long; on the event loop. */
  void watchTheTime() {
    var unused = vertx.setPeriodic(TICK.toMillis(), tick -> open.forEach(Exchange::lookAtTheTime));
  }

  RouteTable routes() {
    return routes;
  }

  Gate gate() {
    return gate;
  }

  RequestListener listener() {
    return listener;
  }

  TimeSource time() {
    return time;
  }

  HttpOptions options() {
    return options;
  }

  /** Returns which web origins may call. */
  Cors cors() {
    return cors;
  }

  /** Returns the memory budget of request bodies. */
  MemoryBudget requests() {
    return requests;
  }

  /** Returns the memory budget of answers that clients have not read yet. */
  MemoryBudget answers() {
    return answers;
  }

  /**
   * Returns the memory budget of streamed answers. It is their own, so that slow readers of streams
   * take nothing from other answers.
   */
  MemoryBudget streams() {
    return streams;
  }

  /**
   * Returns a number that grows with each change of credentials, after which callers of running
   * requests are checked again.
   */
  long admissions() {
    return admissions.get();
  }

  /**
   * Judges the callers of all running requests again, because credentials changed or may have
   * expired. Waits and streams of refused callers end.
   */
  void readmit() {
    admissions.incrementAndGet();
    running.forEach(Exchange::readmit);
  }

  /** Judges running requests regularly, so that none outlives its token for long. */
  void readmitRegularly() {
    time.schedule(
        READMIT_EVERY,
        () -> {
          if (!draining) {
            startThread(this::readmit);
            readmitRegularly();
          }
        });
  }

  String nextId() {
    return HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
  }

  void startThread(Runnable task) {
    threads.newThread(task).start();
  }

  /** Runs the task on the event loop after this time. */
  void after(Duration delay, Runnable task) {
    var unused = vertx.setTimer(delay.toMillis(), fired -> task.run());
  }

  void began(Exchange exchange) {
    running.add(exchange);
    open.add(exchange);
    if (draining) {
      exchange.drain();
    }
  }

  void ended(Exchange exchange) {
    running.remove(exchange);
  }

  /** Forgets a request whose last byte was sent or whose connection is gone. */
  void over(Exchange exchange) {
    running.remove(exchange);
    open.remove(exchange);
  }

  void connected(HttpConnection connection) {
    connections.incrementAndGet();
    if (connection instanceof ConnectionBase base) {
      var server = base.channelHandlerContext();
      server.pipeline().addBefore(server.name(), null, new WatchRequests());
    }
    connection.closeHandler(closed -> connections.decrementAndGet());
  }

  /** Returns how many connections are open. */
  int connections() {
    return connections.get();
  }

  /** Returns whether each answer is the last one of its connection. */
  boolean isLeaving() {
    return leaving;
  }

  /** Makes every answer the last one of its connection; requests are served as before. */
  void leave() {
    leaving = true;
  }

  /** Refuses requests that arrive after the drain has begun. */
  void refuseIfDraining(Route route) {
    if (draining && route.role() != Role.ANYONE) {
      throw ProblemType.UNAVAILABLE
          .with("The server is shutting down")
          .retryAfter(Duration.ofSeconds(1))
          .toException();
    }
  }

  /** Ends all waits; running requests continue to their end. */
  void drain() {
    leaving = true;
    draining = true;
    running.forEach(Exchange::drain);
  }

  int running() {
    return running.size();
  }
}
