package dev.sessionkeeper.registry.receiver;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;

/**
 * The usage that a receiver has applied: each batch once by its key, each record once by its id.
 *
 * <p>Threads: any; one batch at a time. A real receiver does the same in one transaction.
 */
public final class AppliedUsage {
  private final Map<String, byte[]> digests = new HashMap<>();
  private final Set<String> recordIds = new HashSet<>();
  private final Map<UUID, BigDecimal> byTenant = new HashMap<>();
  private final Map<UUID, List<ReceivedRecord>> bySession = new HashMap<>();
  private final Map<UUID, TreeSet<Long>> sequences = new HashMap<>();
  private long repeatedBatches;
  private long repeatedRecords;

  /** The result of applying a batch. */
  enum Outcome {
    APPLIED,
    /** The batch was applied before. Nothing changed. */
    REPEATED,
    /** The key was used before with other bytes. Nothing changed. */
    CONFLICT
  }

  synchronized Outcome apply(
      String key, byte[] sha256, long sequence, List<ReceivedRecord> records) {
    var known = digests.putIfAbsent(key, sha256);
    if (known != null) {
      repeatedBatches++;
      return Arrays.equals(known, sha256) ? Outcome.REPEATED : Outcome.CONFLICT;
    }
    for (var record : records) {
      if (!recordIds.add(record.recordId())) {
        repeatedRecords++;
        continue;
      }
      byTenant.merge(record.tenantObjectId(), record.usage(), BigDecimal::add);
      bySession.computeIfAbsent(record.sessionId(), id -> new ArrayList<>()).add(record);
      sequences.computeIfAbsent(record.tenantObjectId(), id -> new TreeSet<>()).add(sequence);
    }
    return Outcome.APPLIED;
  }

  /** Returns the units of each tenant. */
  public synchronized Map<UUID, BigDecimal> sums() {
    return Map.copyOf(byTenant);
  }

  /** Returns the units of a session; 0 if none came. */
  public synchronized BigDecimal of(UUID session) {
    return bySession.getOrDefault(session, List.of()).stream()
        .map(ReceivedRecord::usage)
        .reduce(BigDecimal.ZERO, BigDecimal::add);
  }

  public synchronized List<ReceivedRecord> records(UUID session) {
    return List.copyOf(bySession.getOrDefault(session, List.of()));
  }

  public synchronized int recordCount() {
    return recordIds.size();
  }

  /** Returns how many batches came more than once, which is harmless. */
  public synchronized long repeatedBatches() {
    return repeatedBatches;
  }

  /** Returns how many records came under two keys, which is a fault of the sender. */
  public synchronized long repeatedRecords() {
    return repeatedRecords;
  }

  /**
   * Returns how many batch numbers are missing between the first and the last batch of each tenant.
   */
  public synchronized long gaps() {
    return sequences.values().stream().mapToLong(s -> s.last() - s.first() + 1 - s.size()).sum();
  }
}
