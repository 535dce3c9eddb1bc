package dev.sessionkeeper.benchmarks.soak;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Sends messages to some hundred sessions at a fixed rate, handles them with the work call, and
 * reads lists and metrics, until closed. One thread sends, two work, one reads.
 */
final class SteadyLoad implements AutoCloseable {
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final int SESSIONS = 400;
  private static final int BATCH = 20;
  private static final long BETWEEN_BATCHES = Duration.ofMillis(100).toNanos();

  /**
   * Creates the queue. Its duplicate window is short, because tables cannot be flat before the
   * first window is over.
   */
  private static final String QUEUE =
      "{\"mode\":\"ORDERED\",\"duplicateWindow\":\"PT10S\",\"lockDuration\":\"PT10S\"}";

  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final String address;
  private final List<Thread> threads = new ArrayList<>();
  private final AtomicLong sent = new AtomicLong();
  private final AtomicLong done = new AtomicLong();
  private final AtomicReference<Optional<Exception>> failure =
      new AtomicReference<>(Optional.empty());
  private volatile boolean isOver;

  private SteadyLoad(String address) {
    this.address = address;
  }

  static SteadyLoad start(String address) {
    var load = new SteadyLoad(address);
    load.tryCall("PUT", "/queues/soak", QUEUE);
    load.requireNoFailure();
    load.repeat(load::send);
    load.repeat(load::work);
    load.repeat(load::work);
    load.repeat(load::look);
    return load;
  }

  long done() {
    return done.get();
  }

  long backlog() {
    return sent.get() - done.get();
  }

  /** Throws if the load failed, because such a run proves nothing. */
  void requireNoFailure() {
    seen()
        .ifPresent(
            cause -> {
              throw new IllegalStateException("The load failed", cause);
            });
  }

  private Optional<Exception> seen() {
    return Objects.requireNonNull(failure.get(), "failure");
  }

  private void repeat(Runnable step) {
    threads.add(
        Thread.ofPlatform()
            .daemon()
            .start(
                () -> {
                  while (!isOver && seen().isEmpty()) {
                    step.run();
                  }
                }));
  }

  private void send() {
    long began = System.nanoTime();
    var body = new StringBuilder("{\"messages\":[");
    for (int i = 0; i < BATCH; i++) {
      body.append(i == 0 ? "" : ",").append("{\"sessionId\":\"s");
      body.append(ThreadLocalRandom.current().nextInt(SESSIONS));
      body.append("\",\"body\":{\"n\":").append(sent.incrementAndGet()).append("}}");
    }
    tryCall("POST", "/queues/soak/messages", body.append("]}").toString());
    LockSupport.parkNanos(BETWEEN_BATCHES - (System.nanoTime() - began));
  }

  /** Accepts sessions, and completes all messages in the next call. */
  private void work() {
    var taken =
        round(",\"take\":{\"sessions\":20,\"messages\":20,\"wait\":\"PT1S\",\"state\":false}", "");
    var settle = new StringBuilder();
    int messages = 0;
    for (var session : taken.path("sessions")) {
      settle.append(settle.isEmpty() ? "" : ",").append("{\"leaseId\":\"");
      settle.append(session.path("leaseId").asString()).append("\",\"completed\":[");
      var comma = "";
      for (var message : session.path("messages")) {
        settle.append(comma).append(message.path("sequence").asLong());
        comma = ",";
        messages++;
      }
      settle.append("],\"then\":\"release\"}");
    }
    if (messages > 0) {
      round("", settle.toString());
      done.addAndGet(messages);
    }
  }

  private JsonNode round(String take, String settle) {
    var id = java.util.UUID.randomUUID();
    return tryCall(
        "POST",
        "/queues/soak/work",
        "{\"requestId\":\"" + id + "\",\"settle\":[" + settle + "]" + take + "}");
  }

  private void look() {
    tryCall("GET", "/queues/soak/sessions", "");
    tryCall("GET", "/queues", "");
    LockSupport.parkNanos(Duration.ofSeconds(1).toNanos());
  }

  private JsonNode tryCall(String method, String path, String json) {
    try {
      var publisher =
          json.isEmpty()
              ? HttpRequest.BodyPublishers.noBody()
              : HttpRequest.BodyPublishers.ofString(json);
      var request =
          HttpRequest.newBuilder(URI.create(address + path))
              .header("Content-Type", "application/json")
              .timeout(Duration.ofSeconds(30))
              .method(method, publisher)
              .build();
      var answer = client.send(request, BodyHandlers.ofString());
      if (answer.statusCode() / 100 != 2) {
        throw new IllegalStateException(
            method + " " + path + " answered " + answer.statusCode() + " " + answer.body());
      }
      return answer.body().isEmpty() ? JSON.createObjectNode() : JSON.readTree(answer.body());
    } catch (Exception e) {
      if (!isOver) {
        failure.compareAndSet(Optional.empty(), Optional.of(e));
      }
      return JSON.createObjectNode();
    }
  }

  @Override
  public void close() {
    isOver = true;
    // Calls in progress end with the client; the threads are daemons.
    client.shutdownNow();
  }
}
