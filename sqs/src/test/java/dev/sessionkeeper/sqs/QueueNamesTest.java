package dev.sessionkeeper.sqs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.QueueName;
import org.junit.jupiter.api.Test;

class QueueNamesTest {
  private final QueueNames names = new QueueNames("");

  @Test
  void aNameThatFitsIsUsedAsItIsWithTheSuffixOfFifo() {
    var orders = QueueName.of("orders_2");
    assertThat(names.nameOf(orders, QueueMode.ORDERED)).isEqualTo("orders_2.fifo");
    assertThat(names.nameOf(orders, QueueMode.UNORDERED)).isEqualTo("orders_2");
    assertThat(names.deadLettersOf(orders, QueueMode.ORDERED)).isEqualTo("orders_2-dead.fifo");
  }

  @Test
  void aNameThatSqsRefusesIsMadeUniqueByADigest() {
    var dotted = names.nameOf(QueueName.of("bot.orders"), QueueMode.ORDERED);
    assertThat(dotted).startsWith("bot_orders-").endsWith(".fifo");
    assertThat(dotted).isNotEqualTo(names.nameOf(QueueName.of("bot_orders"), QueueMode.ORDERED));
    var long1 = QueueName.of("q".repeat(79) + "1");
    var long2 = QueueName.of("q".repeat(79) + "2");
    assertThat(names.deadLettersOf(long1, QueueMode.ORDERED)).hasSizeLessThanOrEqualTo(80);
    assertThat(names.nameOf(long1, QueueMode.ORDERED))
        .isNotEqualTo(names.nameOf(long2, QueueMode.ORDERED));
  }

  @Test
  void aQueueCannotBeTakenForTheDeadLettersOfAnother() {
    assertThat(names.nameOf(QueueName.of("orders-dead"), QueueMode.ORDERED))
        .isNotEqualTo(names.deadLettersOf(QueueName.of("orders"), QueueMode.ORDERED));
  }
}
