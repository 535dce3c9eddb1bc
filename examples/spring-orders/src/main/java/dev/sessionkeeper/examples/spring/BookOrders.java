package dev.sessionkeeper.examples.spring;

import dev.sessionkeeper.spring.SessionListener;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Books orders in the ledger. The row and the settlement of the message commit together, so each
 * order is booked once, whatever crashes. The table has no unique key that would hide a repetition.
 */
@Component
class BookOrders {
  private final JdbcClient jdbc;
  private final double seconds;

  BookOrders(JdbcClient jdbc, @Value("${orders.booking-seconds:0}") double seconds) {
    this.jdbc = jdbc;
    this.seconds = seconds;
  }

  // region book
  @SessionListener(queue = "ledger", id = "ledger", transactional = true)
  void book(OrderPlaced order) {
    jdbc.sql("INSERT INTO shop.ledger (customer, number, item) VALUES (?, ?, ?)")
        .params(order.customer(), order.number(), order.item())
        .update();
    takeTime();
  }

  // endregion

  /** Simulates a slow booking, between its effect and its commit. */
  private void takeTime() {
    if (seconds > 0) {
      jdbc.sql("SELECT pg_sleep(?) IS NULL").param(seconds).query(Boolean.class).single();
    }
  }
}
