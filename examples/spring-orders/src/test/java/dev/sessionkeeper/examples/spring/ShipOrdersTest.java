package dev.sessionkeeper.examples.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.spring.SessionkeeperTemplate;
import dev.sessionkeeper.spring.boot.test.SessionkeeperProbe;
import dev.sessionkeeper.spring.boot.test.SessionkeeperTest;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.ComponentScan.Filter;
import org.springframework.context.annotation.FilterType;

// region slice
@SessionkeeperTest(
    excludeFilters = @Filter(type = FilterType.ASSIGNABLE_TYPE, classes = BookOrders.class))
class ShipOrdersTest {
  @Autowired SessionkeeperTemplate template;
  @Autowired SessionkeeperProbe probe;

  @Test
  void aFragileOrderIsRetriedInPlace() throws InterruptedException {
    template.send("shipping", "c-42", new OrderPlaced("c-42", 1, "fragile cup"));
    template.send("shipping", "c-42", new OrderPlaced("c-42", 2, "tea"));

    probe.awaitIdle();

    assertThat(probe.handledTexts("shipping")).hasSize(2);
    assertThat(probe.handledTexts("shipping").get(0)).contains("fragile cup");
    assertThat(probe.handled("shipping")).extracting(Delivery::attempt).containsExactly(2, 1);
  }
}
// endregion
