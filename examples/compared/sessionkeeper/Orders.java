package compared.sessionkeeper;

import dev.sessionkeeper.spring.SessionListener;
import dev.sessionkeeper.spring.SessionkeeperTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

record Order(String id, String customer, String item) {}

@Component
class Orders {
  private final JdbcClient jdbc;
  private final SessionkeeperTemplate queue;

  Orders(JdbcClient jdbc, SessionkeeperTemplate queue) {
    this.jdbc = jdbc;
    this.queue = queue;
  }

  @Transactional
  public void place(Order order) {
    jdbc.sql("INSERT INTO placed (id, customer, item) VALUES (?, ?, ?)")
        .params(order.id(), order.customer(), order.item())
        .update();
    queue.send("orders", order.customer(), order);
  }

  @SessionListener(queue = "orders", transactional = true)
  void book(Order order) {
    jdbc.sql("INSERT INTO ledger (id, customer, item) VALUES (?, ?, ?)")
        .params(order.id(), order.customer(), order.item())
        .update();
  }
}
