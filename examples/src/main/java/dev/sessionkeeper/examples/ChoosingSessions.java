package dev.sessionkeeper.examples;

import static dev.sessionkeeper.SessionKeyExtractor.allOf;
import static dev.sessionkeeper.SessionKeyExtractor.by;
import static dev.sessionkeeper.SessionKeyExtractor.property;
import static dev.sessionkeeper.jackson.JsonKey.json;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionKeyExtractor;

/** Chooses sessions by keys: messages with the same key are handled in order. */
public final class ChoosingSessions {
  private ChoosingSessions() {}

  /** A value of the application. */
  record Order(String shop, String customer) {}

  public static void main(String[] arguments) {
    // region keys-of-objects
    SessionKeyExtractor<Order> perCustomer = by(Order::customer);
    SessionKeyExtractor<Order> perCustomerOfShop = allOf(by(Order::shop), by(Order::customer));
    // endregion
    var order = new Order("tea-house", "customer-42");
    print("one field", perCustomer.extract(order).orElseThrow());
    print("two fields", perCustomerOfShop.extract(order).orElseThrow());

    // region keys-of-messages
    SessionKeyExtractor<Message> sessions =
        allOf(property("tenant"), json("order.customer.id"))
            .orElse(property("tenant"))
            .orElseUnique();
    // endregion
    var message =
        Message.unordered(Payload.json("{\"order\":{\"customer\":{\"id\":42}}}"))
            .withProperty("tenant", "acme");
    print("a property and a JSON path", sessions.extract(message).orElseThrow());

    var withoutCustomer = Message.unordered(Payload.text("hello")).withProperty("tenant", "acme");
    print("the fallback", sessions.extract(withoutCustomer).orElseThrow());

    var ready = message.inSession(sessions.extract(message).orElseThrow());
    print("ready to send", ready.session().orElseThrow());
  }

  private static void print(String what, SessionId session) {
    System.out.println(what + ": " + session);
  }
}
