package dev.sessionkeeper;

import static dev.sessionkeeper.SessionKeyExtractor.allOf;
import static dev.sessionkeeper.SessionKeyExtractor.by;
import static dev.sessionkeeper.SessionKeyExtractor.none;
import static dev.sessionkeeper.SessionKeyExtractor.property;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SessionKeyExtractorTest {
  private static final Order ORDER = new Order("shop-1", "cust-42", 7);

  @Test
  void oneFieldIsTheKey() {
    SessionKeyExtractor<Order> customer = by(Order::customer);

    assertThat(customer.extract(ORDER)).contains(SessionId.of("cust-42"));
    assertThat(by(Order::number).extract(ORDER)).contains(SessionId.of("7"));
  }

  @Test
  void aFieldThatIsNullOrBlankIsNoKey() {
    SessionKeyExtractor<Order> customer = by(Order::customer);

    assertThat(customer.extract(new Order("shop-1", null, 7))).isEmpty();
    assertThat(customer.extract(new Order("shop-1", "  ", 7))).isEmpty();
  }

  @Test
  void severalFieldsAreJoined() {
    SessionKeyExtractor<Order> both = allOf(by(Order::shop), by(Order::customer));

    assertThat(both.extract(ORDER)).contains(SessionId.of("shop-1/cust-42"));
    assertThat(both.extract(new Order("shop-1", null, 7))).isEmpty();
  }

  @Test
  void differentFieldsNeverGiveTheSameSession() {
    SessionKeyExtractor<Order> both = allOf(by(Order::shop), by(Order::customer));

    assertThat(both.extract(new Order("a/b", "c", 1)))
        .isNotEqualTo(both.extract(new Order("a", "b/c", 1)));
    assertThat(both.extract(new Order("a%2Fb", "c", 1)))
        .isNotEqualTo(both.extract(new Order("a/b", "c", 1)));
  }

  @Test
  void compositesNeedAField() {
    assertThatThrownBy(() -> SessionKeyExtractor.allOf())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("allOf needs at least 1 field, was given none");
  }

  @Test
  void theFirstKeyOfAChainCounts() {
    SessionKeyExtractor<Order> chain =
        SessionKeyExtractor.<Order>by(Order::customer).orElse(by(Order::shop));

    assertThat(chain.extract(ORDER)).contains(SessionId.of("cust-42"));
    assertThat(chain.extract(new Order("shop-1", null, 7))).contains(SessionId.of("shop-1"));
  }

  @Test
  void withoutOrderThereIsNoKeyUnlessAUniqueOneIsWished() {
    assertThat(SessionKeyExtractor.<Order>none().extract(ORDER)).isEmpty();

    var unique = SessionKeyExtractor.<Order>none().orElseUnique();
    assertThat(unique.extract(ORDER)).isPresent().isNotEqualTo(unique.extract(ORDER));
  }

  @Test
  void aLambdaIsAnExtractor() {
    SessionKeyExtractor<Order> halves =
        order -> Optional.of(SessionId.of("half-" + order.number() % 2));

    assertThat(halves.orElse(none()).extract(ORDER)).contains(SessionId.of("half-1"));
  }

  @Test
  void oneSessionForAll() {
    assertThat(SessionKeyExtractor.<Order>always(SessionId.of("all")).extract(ORDER))
        .contains(SessionId.of("all"));
  }

  @Test
  void propertiesOfMessagesAreKeys() {
    var message = Message.unordered(Payload.text("hello")).withProperty("tenant", "acme");

    assertThat(property("tenant").extract(message)).contains(SessionId.of("acme"));
    assertThat(property("nothing").extract(message)).isEmpty();
  }

  @Test
  void theSourceMayBePartOfSomethingElse() {
    record Envelope(Order order) {}

    SessionKeyExtractor<Envelope> inside =
        SessionKeyExtractor.<Order>by(Order::customer).from(Envelope::order);

    assertThat(inside.extract(new Envelope(ORDER))).contains(SessionId.of("cust-42"));
  }

  @Test
  void longKeysAreShortenedToTheSameSessionEveryTime() {
    SessionKeyExtractor<Order> customer = by(Order::customer);
    var longKey = "c".repeat(500);

    var first = customer.extract(new Order("s", longKey, 1)).orElseThrow();

    assertThat(first.value()).hasSize(128);
    assertThat(customer.extract(new Order("s", longKey, 2))).contains(first);
    assertThat(customer.extract(new Order("s", longKey + "c", 3))).isPresent().isNotEqualTo(first);
  }

  private record Order(String shop, @Nullable String customer, int number) {}
}
