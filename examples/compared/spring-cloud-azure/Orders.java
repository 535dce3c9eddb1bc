package compared.azure;

import com.azure.spring.cloud.service.servicebus.properties.ServiceBusEntityType;
import com.azure.spring.messaging.servicebus.core.ServiceBusTemplate;
import com.azure.spring.messaging.servicebus.implementation.core.annotation.ServiceBusListener;
import com.azure.spring.messaging.servicebus.support.ServiceBusMessageHeaders;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.messaging.support.MessageBuilder;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;
import tools.jackson.databind.json.JsonMapper;

record Order(String id, String customer, String item) {}

@Component
class Orders {
  private final JdbcClient jdbc;
  private final ServiceBusTemplate bus;
  private final JsonMapper json;

  Orders(JdbcClient jdbc, ServiceBusTemplate bus, JsonMapper json) {
    this.jdbc = jdbc;
    this.bus = bus;
    this.json = json;
    bus.setDefaultEntityType(ServiceBusEntityType.QUEUE);
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

  // One relay at a time, in the order of the rows; the broker drops a repeated send by its id.
  @Scheduled(fixedDelay = 200)
  @Transactional
  public void relay() {
    jdbc.sql("SELECT pg_advisory_xact_lock(4711)").query().singleRow();
    var waiting =
        jdbc.sql("SELECT id, customer, item FROM outbox ORDER BY number LIMIT 100")
            .query(Order.class)
            .list();
    for (var order : waiting) {
      var message =
          MessageBuilder.withPayload(json.writeValueAsString(order))
              .setHeader(ServiceBusMessageHeaders.SESSION_ID, order.customer())
              .setHeader(ServiceBusMessageHeaders.MESSAGE_ID, order.id())
              .build();
      bus.sendAsync("orders", message).block();
      jdbc.sql("DELETE FROM outbox WHERE id = ?").param(order.id()).update();
    }
  }

  // The broker may deliver an order again after its effect; the table of handled ids detects that.
  @ServiceBusListener(destination = "orders", concurrency = "16")
  @Transactional
  public void book(String body) {
    var order = json.readValue(body, Order.class);
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
