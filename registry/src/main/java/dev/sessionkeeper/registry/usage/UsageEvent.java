package dev.sessionkeeper.registry.usage;

import java.time.Duration;
import java.util.UUID;

/** An event of metering or delivery on this node, for metrics and alerts. */
public sealed interface UsageEvent {
  /** A slot was metered. */
  record Metered(int rows, Duration took) implements UsageEvent {}

  /** The database's clock jumped; metering is held until an operator releases it. */
  record Held(Duration jump, String reason) implements UsageEvent {}

  /** Metering continues. */
  record Released(String by) implements UsageEvent {}

  /** The receiver acknowledged a batch. */
  record Delivered(UUID tenant, int records, Duration took) implements UsageEvent {}

  /** The receiver did not accept a batch, which is sent again after the pause. */
  record DeliveryFailed(UUID tenant, int failures, String reason, Duration pause)
      implements UsageEvent {}

  /** The receiver refused a batch for good; an operator decides. */
  record Dead(UUID tenant, UUID batchId, String reason) implements UsageEvent {}

  /** An acknowledgement was dropped, because another node had taken over the tenant. */
  record FenceRejected(UUID tenant, long epoch) implements UsageEvent {}
}
