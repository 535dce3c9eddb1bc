package dev.sessionkeeper.server.usage;

import dev.sessionkeeper.registry.usage.Usage;
import dev.sessionkeeper.registry.usage.UsageProof;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** The sums of each tenant in microseconds times factor, and whether metering is held. */
record ProofView(List<Tenant> tenants, Optional<Hold> hold) {

  /**
   * The sums of one tenant, each computed from another table.
   *
   * @param activeMicros the time of the sessions up to now, by their starts and ends
   * @param pendingMetering the part of that time that one of the next slots meters
   * @param forgotten the sum of delivered records that retention has deleted
   */
  record Tenant(
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
      Differences differences) {
    static Tenant of(UsageProof proof) {
      return new Tenant(
          proof.tenantObjectId(),
          proof.active(),
          proof.unmetered(),
          proof.corrections(),
          proof.ledger(),
          proof.batches(),
          proof.acknowledged(),
          proof.pending(),
          proof.dead(),
          proof.forgotten(),
          new Differences(
              proof.ledgerDifference(), proof.batchDifference(), proof.acknowledgedDifference()));
    }
  }

  /** The differences of the proof. Each of them is 0 when all usage is accounted for. */
  record Differences(BigDecimal ledger, BigDecimal batches, BigDecimal acknowledged) {}

  /** A stop of metering, with its cause. */
  record Hold(Instant since, Duration jump, String reason) {
    static Hold of(Usage.MeteringHold hold) {
      return new Hold(hold.since(), hold.jump(), hold.reason());
    }
  }

  /** The result of releasing a hold of metering. */
  record Released(boolean released) {}
}
