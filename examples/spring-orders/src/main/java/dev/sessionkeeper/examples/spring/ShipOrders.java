package dev.sessionkeeper.examples.spring;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.spring.SessionListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/** Ships orders. A fragile one breaks once; later orders of the customer wait for the retry. */
@Component
class ShipOrders {
  private static final Logger log = LoggerFactory.getLogger(ShipOrders.class);

  // region ship
  @SessionListener(queue = "shipping", concurrency = "${orders.trucks:16}")
  void ship(OrderPlaced order, Delivery delivery) {
    if (order.item().startsWith("fragile") && delivery.attempt() == 1) {
      throw new IllegalStateException("It broke; pack it better");
    }
    log.info("Shipped {} of {} at attempt {}", order.item(), order.customer(), delivery.attempt());
  }
  // endregion
}
