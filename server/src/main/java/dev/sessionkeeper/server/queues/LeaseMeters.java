package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.Delivery;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Counts events of leases and deliveries. */
final class LeaseMeters {
  private static final Logger log = LoggerFactory.getLogger(LeaseMeters.class);

  private final Counter contention;
  private final Counter violations;
  private final Counter delivered;

  LeaseMeters(MeterRegistry registry) {
    contention =
        Counter.builder("keeper.lease.contention")
            .description("Leases refused because another owner holds the session")
            .register(registry);
    violations =
        Counter.builder("keeper.order.violations")
            .description(
                "Deliveries out of order, checked before they leave the server; must stay 0")
            .register(registry);
    delivered =
        Counter.builder("keeper.messages.delivered")
            .description("Messages that were delivered under a lease")
            .register(registry);
  }

  void contended() {
    contention.increment();
  }

  /**
   * Checks, before messages leave the server, that the sequence numbers of one receive only grow.
   */
  void checkOrder(List<Delivery> deliveries) {
    delivered.increment(deliveries.size());
    for (int i = 1; i < deliveries.size(); i++) {
      if (deliveries.get(i).sequence() <= deliveries.get(i - 1).sequence()) {
        violations.increment();
        log.error(
            "Message {} was handed out behind {}; the order of its session is broken",
            deliveries.get(i).sequence(),
            deliveries.get(i - 1).sequence());
      }
    }
  }
}
