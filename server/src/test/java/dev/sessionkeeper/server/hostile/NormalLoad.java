package dev.sessionkeeper.server.hostile;

import java.io.IOException;
import java.util.Arrays;
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

/**
 * Sends and consumes small messages of an ordered queue, as a well-behaved application does: a
 * failed call is repeated with the same message id.
 */
final class NormalLoad {
  static final String QUEUE = "/queues/normal";
  private static final Pattern LEASE = Pattern.compile("\"leaseId\":\"([^\"]+)\"");
  private static final Pattern MESSAGE =
      Pattern.compile("\"sequence\":(\\d+),\"messageId\":\"([^\"]+)\"");
  private static final long PAUSE_NANOS = 20_000_000;

  private final Wire wire;
  private final AtomicBoolean sends = new AtomicBoolean(true);
  private final AtomicBoolean consumes = new AtomicBoolean(true);
  private final Set<String> acknowledged = ConcurrentHashMap.newKeySet();
  private final Set<String> completed = ConcurrentHashMap.newKeySet();
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

  /** Returns whether every acknowledged message was completed. */
  boolean isDrained() {
    return completed.containsAll(acknowledged);
  }

  int sent() {
    return acknowledged.size();
  }

  int received() {
    return completed.size();
  }

  long lost() {
    return acknowledged.stream().filter(id -> !completed.contains(id)).count();
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
      var held = QUEUE + "/leases/" + lease.group(1);
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
