package dev.sessionkeeper.examples.spring;

import dev.sessionkeeper.spring.SessionkeeperTemplate;
import java.util.List;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/**
 * Accepts orders. The row and the messages are one transaction, so neither exists without the
 * other.
 */
@RestController
class PlaceOrders {
  private final JdbcClient jdbc;
  private final SessionkeeperTemplate template;

  PlaceOrders(JdbcClient jdbc, SessionkeeperTemplate template) {
    this.jdbc = jdbc;
    this.template = template;
  }

  // region place
  @PostMapping("/customers/{customer}/orders")
  @Transactional
  OrderPlaced place(@PathVariable String customer, @RequestParam String item) {
    int number =
        jdbc.sql("INSERT INTO shop.placed (customer, item) VALUES (?, ?) RETURNING id")
            .params(customer, item)
            .query(Integer.class)
            .single();
    var order = new OrderPlaced(customer, number, item);
    template.send("shipping", customer, order);
    template.send("ledger", customer, order);
    return order;
  }

  // endregion

  @GetMapping("/customers/{customer}/ledger")
  List<String> ledger(@PathVariable String customer) {
    return jdbc.sql("SELECT number || ' ' || item FROM shop.ledger WHERE customer = ? ORDER BY id")
        .param(customer)
        .query(String.class)
        .list();
  }
}
