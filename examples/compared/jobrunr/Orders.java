package compared.jobrunr;

import org.jobrunr.jobs.annotations.Job;
import org.jobrunr.jobs.annotations.Recurring;
import org.jobrunr.scheduling.JobScheduler;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

record Order(String id, String customer, String item) {}

@Component
class Orders {
  private final JdbcClient jdbc;
  private final JobScheduler jobs;
  private final TransactionTemplate transaction;

  Orders(JdbcClient jdbc, JobScheduler jobs, TransactionTemplate transaction) {
    this.jdbc = jdbc;
    this.jobs = jobs;
    this.transaction = transaction;
  }

  // A job does not join the transaction: it is enqueued after the commit, and sweep() finds lost
  // ones.
  public void place(Order order) {
    transaction.executeWithoutResult(
        status ->
            jdbc.sql("INSERT INTO placed (id, customer, item) VALUES (?, ?, ?)")
                .params(order.id(), order.customer(), order.item())
                .update());
    jobs.<Orders>enqueue(orders -> orders.bookNext(order.customer()));
  }

  // Jobs have no order: each books the oldest remaining order of its customer, one job at a time.
  @Job(name = "Book the next order of %0", retries = 4)
  @Transactional
  public void bookNext(String customer) {
    jdbc.sql("SELECT pg_advisory_xact_lock(hashtextextended(?, 0))")
        .param(customer)
        .query()
        .singleRow();
    var next =
        jdbc.sql(
                "SELECT id, customer, item FROM placed WHERE customer = ? AND NOT booked"
                    + " ORDER BY number LIMIT 1")
            .param(customer)
            .query(Order.class)
            .optional();
    if (next.isPresent()) {
      var order = next.get();
      jdbc.sql("INSERT INTO ledger (id, customer, item) VALUES (?, ?, ?)")
          .params(order.id(), order.customer(), order.item())
          .update();
      jdbc.sql("UPDATE placed SET booked = true WHERE id = ?").param(order.id()).update();
    }
  }

  @Recurring(id = "sweep", interval = "PT1M")
  public void sweep() {
    jdbc.sql("SELECT customer FROM placed WHERE NOT booked")
        .query(String.class)
        .list()
        .forEach(customer -> jobs.<Orders>enqueue(orders -> orders.bookNext(customer)));
  }
}
