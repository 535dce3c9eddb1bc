package dev.sessionkeeper.spring.boot.test;

import dev.sessionkeeper.spring.SessionListener;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.stereotype.Component;
import org.springframework.stereotype.Service;

/** An application with a listener that needs a service. */
@SpringBootApplication
class Orders {

  record OrderPlaced(String customer, int number) {}

  /** A service that the listener needs. */
  interface Mail {
    void send(String text);
  }
}

/** A bean outside the slice. */
@Service
class Warehouse {
  Warehouse() {
    throw new IllegalStateException("The slice must not create services");
  }
}

@Component
record OrderListener(Orders.Mail mail) {
  @SessionListener(queue = "orders")
  void on(Orders.OrderPlaced order) {
    if (order.number() < 0) {
      throw new IllegalArgumentException("negative");
    }
    mail.send(order.customer() + " ordered " + order.number());
  }
}
