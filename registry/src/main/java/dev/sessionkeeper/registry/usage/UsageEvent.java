package dev.sessionkeeper.registry.usage;

import java.time.Duration;
import java.util.UUID;

/** An event of metering or delivery on this node, for metrics and alerts. */
public sealed interface UsageEvent {
  /** A slot was metered. */
  record Metered(int rows, Duration took) implements UsageEvent {}

  /** The clock of the database jumped; nothing is metered until the hold is released. */
  record Held(Duration jump, String reason) implements UsageEvent {}

  /** Metering goes on. */
  record Released(String by) implements UsageEvent {}

  /** The receiver has a batch. */
  record Delivered(UUID tenant, int records, Duration took) implements UsageEvent {}

  /** The receiver did not take a batch; it is sent again after the pause. */
  record DeliveryFailed(UUID tenant, int failures, String reason, Duration pause)
      implements UsageEvent {}

  /** The receiver refused a batch for good; a person decides. */
  record Dead(UUID tenant, UUID batchId, String reason) implements UsageEvent {}

  /** An acknowledgement came after another node had taken over the tenant; it was dropped. */
  record FenceRejected(UUID tenant, long epoch) implements UsageEvent {}
}
