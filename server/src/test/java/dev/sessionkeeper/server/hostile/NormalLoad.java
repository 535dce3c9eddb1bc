package dev.sessionkeeper.server.hostile;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Sends and consumes small messages of an ordered queue, and publishes and acknowledges the events
 * of a stream, as a well-behaved application does: a failed call is repeated with the same id.
 */
final class NormalLoad {
  static final String QUEUE = "/queues/normal";
  static final String STREAM = "/streams/normal";
  private static final Pattern LEASE = Pattern.compile("\"leaseId\":\"([^\"]+)\"");
  private static final Pattern MESSAGE =
      Pattern.compile("\"sequence\":(\\d+),\"messageId\":\"([^\"]+)\"");
  private static final long PAUSE_NANOS = 20_000_000;

  private final Wire wire;
  private final AtomicBoolean sends = new AtomicBoolean(true);
  private final AtomicBoolean consumes = new AtomicBoolean(true);
  private final Set<String> acknowledged = ConcurrentHashMap.newKeySet();
  private final Set<String> completed = ConcurrentHashMap.newKeySet();
  private final AtomicLong published = new AtomicLong();
  private final AtomicLong seen = new AtomicLong();
  private final AtomicLong misplaced = new AtomicLong();
  private volatile String leaseShown = "";
  private final Map<String, AtomicLong> failures = new ConcurrentHashMap<>();
  private final ConcurrentLinkedQueue<Long> tookMicros = new ConcurrentLinkedQueue<>();

  NormalLoad(Wire wire) {
    this.wire = wire;
  }

  void stopSending() {
    sends.set(false);
  }

  void stopConsuming() {
    consumes.set(false);
  }

  /** Returns whether every acknowledged message was completed, and every event seen. */
  boolean isDrained() {
    return completed.containsAll(acknowledged) && seen.get() >= published.get();
  }

  /** Returns how many events were published. Each was seen, unless it is counted as lost. */
  long published() {
    return published.get();
  }

  /** Returns how many events were seen twice or out of order. */
  long misplaced() {
    return misplaced.get();
  }

  /** Returns a lease id that is held at this moment; blank before the first one. */
  String leaseShown() {
    return leaseShown;
  }

  int sent() {
    return acknowledged.size();
  }

  int received() {
    return completed.size();
  }

  long lost() {
    return acknowledged.stream().filter(id -> !completed.contains(id)).count()
        + Math.max(0, published.get() - seen.get());
  }

  /** Returns how many calls failed, by the kind of their problem or exception. */
  Map<String, Long> failures() {
    var all = new TreeMap<String, Long>();
    failures.forEach((kind, count) -> all.put(kind, count.get()));
    return all;
  }

  int calls() {
    return tookMicros.size();
  }

  long percentileMillis(double percent) {
    var all = tookMicros.stream().mapToLong(Long::longValue).toArray();
    Arrays.sort(all);
    return all.length == 0
        ? 0
        : all[(int) Math.min(all.length - 1, all.length * percent / 100)] / 1000;
  }

  /** Runs one sender. */
  void send(int number) {
    for (int i = 0; sends.get(); i++) {
      var id = "n" + number + "-" + i;
      var message =
          "{\"messages\":[{\"messageId\":\"%s\",\"sessionId\":\"s%d\",\"body\":{\"n\":%d}}]}"
              .formatted(id, ThreadLocalRandom.current().nextInt(50), i);
      while (sends.get() && call("POST", QUEUE + "/messages", message, 201).isEmpty()) {
        LockSupport.parkNanos(PAUSE_NANOS * 5);
      }
      if (sends.get()) {
        acknowledged.add(id);
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }

  /** Runs one consumer. */
  void consume() {
    while (consumes.get()) {
      var lease = LEASE.matcher(call("POST", QUEUE + "/leases", "{}", 201));
      if (!lease.find()) {
        LockSupport.parkNanos(PAUSE_NANOS);
        continue;
      }
      leaseShown = lease.group(1);
      var held = QUEUE + "/leases/" + leaseShown;
      var messages = MESSAGE.matcher(call("GET", held + "/messages?max=100", "", 200));
      while (messages.find()) {
        var settlement =
            "{\"settlements\":[{\"sequence\":%s,\"action\":\"complete\"}]}"
                .formatted(messages.group(1));
        if (call("POST", held + "/settlements", settlement, 200).isEmpty()) {
          break;
        }
        completed.add(messages.group(2));
      }
      call("DELETE", held, "", 204);
    }
  }

  /**
   * Runs one worker that settles and accepts with one request at a time. A request without an
   * answer is repeated.
   */
  void consumeInRounds(int number) {
    var round = Round.FIRST;
    for (int i = 0; consumes.get(); i++) {
      var request = round.request("w" + number + "-" + i);
      var answer = call("POST", QUEUE + "/work", request, 200);
      while (answer.isEmpty() && consumes.get()) {
        LockSupport.parkNanos(PAUSE_NANOS * 5);
        answer = call("POST", QUEUE + "/work", request, 200);
      }
      if (!answer.isEmpty()) {
        round = read(JsonMapper.shared().readTree(answer), round);
      }
    }
  }

  /** Records the settlements of the answer and the sessions that it brought. */
  private Round read(JsonNode answer, Round before) {
    for (var settled : answer.path("settled")) {
      if (settled.path("outcome").asString().equals("settled")) {
        completed.addAll(before.ids().get(settled.path("leaseId").asString()));
      }
    }
    var sequences = new LinkedHashMap<String, List<String>>();
    var ids = new LinkedHashMap<String, List<String>>();
    for (var session : answer.path("sessions")) {
      leaseShown = session.path("leaseId").asString();
      sequences.put(leaseShown, new ArrayList<>());
      ids.put(leaseShown, new ArrayList<>());
      for (var message : session.path("messages")) {
        sequences.get(leaseShown).add(message.path("sequence").asString());
        ids.get(leaseShown).add(message.path("messageId").asString());
      }
    }
    return new Round(sequences, ids);
  }

  /** The open deliveries of a worker, by lease. */
  private record Round(Map<String, List<String>> sequences, Map<String, List<String>> ids) {
    static final Round FIRST = new Round(Map.of(), Map.of());

    String request(String id) {
      var settle = new ArrayList<String>();
      sequences.forEach(
          (lease, each) ->
              settle.add(
                  "{\"leaseId\":\"%s\",\"completed\":[%s]}"
                      .formatted(lease, String.join(",", each))));
      return "{\"requestId\":\"%s\",\"settle\":[%s],\"take\":{\"sessions\":8,\"messages\":20,\"wait\":\"PT0.2S\"}}"
          .formatted(id, String.join(",", settle));
    }
  }

  /** Publishes numbered events; a repetition has the same id. */
  void publish() {
    while (sends.get()) {
      long number = published.get() + 1;
      var event = "{\"eventId\":\"e-%d\",\"data\":%d}".formatted(number, number);
      if (!call("POST", STREAM + "/events", event, 201).isEmpty()) {
        published.set(number);
      }
      LockSupport.parkNanos(PAUSE_NANOS * 5);
    }
  }

  /** Reads the events behind the position of a subscriber, and acknowledges them. */
  void subscribe() {
    var subscriber = "/subscribers/billing";
    var fromTheStart = "{\"from\":\"start\"}";
    while (consumes.get()
        && call("PUT", STREAM + subscriber, fromTheStart, 201).isEmpty()
        && call("PUT", STREAM + subscriber, fromTheStart, 200).isEmpty()) {
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    while (consumes.get()) {
      var page = call("GET", STREAM + "/events?subscriber=billing&limit=100", "", 200);
      var last = "";
      for (var event : JsonMapper.shared().readTree(page.isEmpty() ? "{}" : page).path("events")) {
        long number = event.path("data").asLong();
        if (number > seen.get() + 1) {
          misplaced.incrementAndGet();
        }
        seen.set(Math.max(seen.get(), number));
        last = event.path("id").asString();
      }
      if (!last.isEmpty()) {
        call("POST", STREAM + subscriber + "/ack", "{\"lastEventId\":\"" + last + "\"}", 200);
      }
      LockSupport.parkNanos(PAUSE_NANOS * 5);
    }
  }

  /** Returns the body of the answer; blank if the call failed. */
  private String call(String method, String path, String json, int expected) {
    long start = System.nanoTime();
    try {
      var answer = wire.call(method, path, json);
      tookMicros.add((System.nanoTime() - start) / 1000);
      if (answer.status() == expected) {
        return answer.body().isEmpty() ? "{}" : answer.body();
      }
      if (answer.status() >= 400) {
        count(answer.status() + " " + answer.kind());
      }
    } catch (IOException e) {
      count(e.getClass().getSimpleName());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      stopSending();
      stopConsuming();
    }
    return "";
  }

  private void count(String kind) {
    failures.computeIfAbsent(kind, unused -> new AtomicLong()).incrementAndGet();
  }
}
