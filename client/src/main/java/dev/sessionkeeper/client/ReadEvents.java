package dev.sessionkeeper.client;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.time.TimeSource;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Reads a stream over successive connections.
 *
 * <p>One thread. I1: the last id moves only after the handler returned. I2: an event with an id up
 * to the last one is dropped.
 */
final class ReadEvents implements Runnable {
  private static final String GAP = "gap";
  private static final String SLOW_READER = "slow-reader";

  private final Settings settings;
  private final EventHandler handler;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final AtomicReference<@Nullable Future<?>> asking = new AtomicReference<>();
  private final AtomicReference<@Nullable InputStream> body = new AtomicReference<>();
  private final AtomicReference<TimeSource.@Nullable Timer> watch = new AtomicReference<>();
  private volatile long lastId;
  private volatile boolean hasId;
  private volatile long lastSign;
  private int failures;

  /** The settings that all connections share. */
  record Settings(
      Servers addresses,
      Map<String, String> headers,
      HttpClient http,
      RetryPolicy retry,
      Duration silence,
      TimeSource time) {}

  ReadEvents(Settings settings, OptionalLong after, EventHandler handler) {
    this.settings = settings;
    this.handler = handler;
    this.hasId = after.isPresent();
    this.lastId = after.orElse(0);
  }

  OptionalLong lastEventId() {
    return hasId ? OptionalLong.of(lastId) : OptionalLong.empty();
  }

  void close() {
    closed.countDown();
    Optional.ofNullable(asking.getAndSet(null)).ifPresent(answer -> answer.cancel(true));
    hangUp();
  }

  @Override
  public void run() {
    try {
      while (!isClosed()) {
        connectOnce();
      }
    } catch (KeeperException e) {
      handler.onRefused(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void connectOnce() throws InterruptedException {
    String why;
    try {
      var response = send();
      why = response.statusCode() == 200 ? read(response.body()) : refusal(response);
    } catch (IOException e) {
      why = String.valueOf(e.getMessage());
    }
    if (isClosed()) {
      return;
    }
    failures++;
    settings.addresses().leave(settings.addresses().turn());
    var pause = settings.retry().delayAfter(failures, RandomGenerator.getDefault());
    handler.onDisconnected(why, pause);
    closed.await(pause.toNanos(), TimeUnit.NANOSECONDS);
  }

  private HttpResponse<InputStream> send() throws IOException, InterruptedException {
    var answer = settings.http().sendAsync(request(), HttpResponse.BodyHandlers.ofInputStream());
    asking.set(answer);
    try {
      if (isClosed()) {
        answer.cancel(true);
      }
      return answer.get();
    } catch (ExecutionException e) {
      throw new IOException(e.getCause());
    } catch (CancellationException e) {
      throw new IOException("closed", e);
    } finally {
      asking.set(null);
    }
  }

  private HttpRequest request() {
    var request =
        HttpRequest.newBuilder(settings.addresses().at(settings.addresses().turn()))
            .header("Accept", "text/event-stream")
            .timeout(Duration.ofSeconds(30));
    settings.headers().forEach(request::header);
    if (hasId) {
      request.header("Last-Event-ID", Long.toString(lastId));
    }
    return request.build();
  }

  /** Returns why to try again, or throws if another attempt cannot help. */
  private static String refusal(HttpResponse<InputStream> response) throws IOException {
    try (var in = response.body()) {
      int status = response.statusCode();
      boolean passes = status >= 500 || status == 408 || status == 421 || status == 429;
      if (!passes) {
        var text = new String(in.readNBytes(2_000), StandardCharsets.UTF_8);
        throw new KeeperException.Rejected(
            "The server refuses the stream with status " + status + ": " + text);
      }
      return "status " + status;
    }
  }

  private String read(InputStream in) throws InterruptedException {
    body.set(in);
    lastSign = settings.time().nanoTime();
    watch.set(watch());
    try (in) {
      if (isClosed()) {
        return "closed";
      }
      handler.onConnected();
      var events = new ParseEvents(in, () -> lastSign = settings.time().nanoTime());
      for (var event = events.next(); event.isPresent(); event = events.next()) {
        if (!handle(event.get())) {
          return "the handler failed";
        }
      }
      return "the server ended the connection";
    } catch (IOException e) {
      return String.valueOf(e.getMessage());
    } finally {
      body.set(null);
      Optional.ofNullable(watch.getAndSet(null)).ifPresent(TimeSource.Timer::cancel);
    }
  }

  /** Closes a connection that was silent for too long; the server sends heartbeats. */
  private TimeSource.Timer watch() {
    return settings.time().schedule(settings.silence(), this::hangUpIfSilent);
  }

  private void hangUpIfSilent() {
    if (body.get() == null) {
      return;
    }
    if (settings.time().since(lastSign).compareTo(settings.silence()) >= 0) {
      hangUp();
    } else {
      watch.set(watch());
    }
  }

  private boolean handle(ParseEvents.Raw raw) throws InterruptedException {
    if (raw.event().equals(SLOW_READER) || !raw.id().matches("\\d{1,18}")) {
      return true;
    }
    long id = Long.parseLong(raw.id());
    try {
      if (raw.event().equals(GAP)) {
        handler.onGap(lastId, id + 1);
      } else if (hasId && id <= lastId) {
        return true;
      } else {
        handler.onEvent(new StreamedEvent(id, raw.event(), raw.data()));
      }
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      return false;
    }
    lastId = id;
    hasId = true;
    failures = 0;
    return true;
  }

  private void hangUp() {
    var in = body.getAndSet(null);
    if (in != null) {
      try {
        in.close();
      } catch (IOException e) {
        // The connection was closed already.
      }
    }
  }

  private boolean isClosed() {
    return closed.getCount() == 0;
  }
}
