package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.time.TimeSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Keeps the results of work requests in memory. Each addition deletes expired ones. */
final class MemoryWorkLog implements WorkLog {
  private final Map<Round, Kept> rounds = new LinkedHashMap<>();
  private final TimeSource time;

  MemoryWorkLog(TimeSource time) {
    this.time = time;
  }

  private record Kept(Result result, long since) {}

  @Override
  public synchronized Optional<Result> find(Round round) {
    return Optional.ofNullable(rounds.get(round)).map(Kept::result);
  }

  @Override
  public synchronized boolean add(Round round, Result result) {
    forgetOld();
    return rounds.putIfAbsent(round, new Kept(result, time.nanoTime())) == null;
  }

  @Override
  public synchronized void complete(Round round, Result result) {
    rounds.put(round, new Kept(result, time.nanoTime()));
  }

  private void forgetOld() {
    var oldestFirst = rounds.values().iterator();
    while (oldestFirst.hasNext() && time.since(oldestFirst.next().since()).compareTo(KEPT) > 0) {
      oldestFirst.remove();
    }
  }
}
