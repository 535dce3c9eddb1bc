package dev.sessionkeeper.client;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** The calls of metered usage: ledger, batches, corrections and proof. */
public final class UsageClient {
  private final KeeperClient client;

  UsageClient(KeeperClient client) {
    this.client = client;
  }

  /**
   * Returns a page of the ledger, by tenant and time.
   *
   * @param query any of {@code tenantObjectId}, {@code from}, {@code to}, {@code limit}, {@code
   *     cursor}
   */
  public Ledger ledger(Map<String, String> query) {
    return KeeperClient.read(client.get("/usages", query), Ledger.class);
  }

  /**
   * Returns a page of batches, newest first.
   *
   * @param query any of {@code tenantObjectId}, {@code state}, {@code limit}, {@code cursor}
   */
  public Batches batches(Map<String, String> query) {
    return KeeperClient.read(client.get("/usages/batches", query), Batches.class);
  }

  /** Sends a batch to the receiver again. */
  public void replay(UUID batch) {
    client.post("/usages/batches/" + batch + "/replay", QueueClient.object());
  }

  /** Bills a record at another factor; the ledger gets a reversal and a new record. */
  public List<UsageRecord> correct(String recordId, BigDecimal factor, String reason) {
    var body = QueueClient.object();
    body.put("recordId", recordId);
    body.put("factor", factor);
    body.put("reason", reason);
    return KeeperClient.read(client.post("/usages/corrections", body), Ledger.class).usages();
  }

  /**
   * Returns the sums of each tenant, computed from different tables; all differences should be 0.
   */
  public List<TenantProof> proof() {
    return KeeperClient.read(client.get("/usages/proof", Map.of()), Proof.class).tenants();
  }

  /** A record of the ledger. */
  public record UsageRecord(
      String recordId,
      UUID sessionId,
      UUID userObjectId,
      UUID tenantObjectId,
      UUID capacityId,
      int sessionKind,
      Instant from,
      Instant to,
      BigDecimal usage,
      String type,
      Optional<String> corrects) {}

  /**
   * A page of the ledger.
   *
   * @param nextCursor the cursor of the next page; empty on the last one
   */
  public record Ledger(List<UsageRecord> usages, Optional<String> nextCursor) {}

  /**
   * Records that are delivered together.
   *
   * @param state pending, acknowledged or dead
   */
  public record Batch(
      UUID batchId,
      UUID tenantObjectId,
      long sequence,
      int records,
      BigDecimal usage,
      String state,
      int attempts,
      Optional<String> lastError,
      Instant createdAt,
      Optional<Instant> settledAt,
      String sha256) {}

  /**
   * A page of batches.
   *
   * @param nextCursor the cursor of the next page; empty on the last one
   */
  public record Batches(List<Batch> batches, Optional<String> nextCursor) {}

  /** The sums of a tenant in microseconds times factor. */
  public record TenantProof(
      UUID tenantObjectId,
      BigDecimal activeMicros,
      BigDecimal pendingMetering,
      BigDecimal corrections,
      BigDecimal ledger,
      BigDecimal batches,
      BigDecimal acknowledged,
      BigDecimal pending,
      BigDecimal dead,
      BigDecimal forgotten,
      Differences differences) {}

  /** Differences between sums that must be equal. */
  public record Differences(BigDecimal ledger, BigDecimal batches, BigDecimal acknowledged) {}

  private record Proof(List<TenantProof> tenants) {}
}
