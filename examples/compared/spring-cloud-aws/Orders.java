package compared.aws;

import io.awspring.cloud.sqs.annotation.SqsListener;
import io.awspring.cloud.sqs.operations.SqsTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

record Order(String id, String customer, String item) {}

@Component
class Orders {
  private final JdbcClient jdbc;
  private final SqsTemplate sqs;

  Orders(JdbcClient jdbc, SqsTemplate sqs) {
    this.jdbc = jdbc;
    this.sqs = sqs;
  }

  @Transactional
  public void place(Order order) {
    jdbc.sql("INSERT INTO placed (id, customer, item) VALUES (?, ?, ?)")
        .params(order.id(), order.customer(), order.item())
        .update();
    jdbc.sql("INSERT INTO outbox (id, customer, item) VALUES (?, ?, ?)")
        .params(order.id(), order.customer(), order.item())
        .update();
  }

  // One relay at a time, in the order of the rows; SQS drops a repeated send by its id for 5
  // minutes.
  @Scheduled(fixedDelay = 200)
  @Transactional
  public void relay() {
    jdbc.sql("SELECT pg_advisory_xact_lock(4711)").query().singleRow();
    var waiting =
        jdbc.sql("SELECT id, customer, item FROM outbox ORDER BY number LIMIT 100")
            .query(Order.class)
            .list();
    for (var order : waiting) {
      sqs.send(
          to ->
              to.queue("orders.fifo")
                  .payload(order)
                  .messageGroupId(order.customer())
                  .messageDeduplicationId(order.id()));
      jdbc.sql("DELETE FROM outbox WHERE id = ?").param(order.id()).update();
    }
  }

  // SQS may deliver an order again after its effect; the table of handled ids detects that.
  @SqsListener(queueNames = "orders.fifo", messageVisibilitySeconds = "30")
  @Transactional
  public void book(Order order) {
    int first =
        jdbc.sql("INSERT INTO handled (id) VALUES (?) ON CONFLICT DO NOTHING")
            .param(order.id())
            .update();
    if (first == 1) {
      jdbc.sql("INSERT INTO ledger (id, customer, item) VALUES (?, ?, ?)")
          .params(order.id(), order.customer(), order.item())
          .update();
    }
  }

  @Scheduled(cron = "@daily")
  public void forget() {
    jdbc.sql("DELETE FROM handled WHERE at < now() - interval '15 days'").update();
  }
}
