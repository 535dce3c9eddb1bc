package dev.sessionkeeper.postgres.prefetch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.row.FoundMessage;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PrefetchedMessagesTest {
  private final PrefetchBudget budget = new PrefetchBudget(1000);
  private final PrefetchedMessages messages = new PrefetchedMessages(budget.share(() -> {}));

  @BeforeEach
  void feedThree() {
    for (long sequence = 1; sequence <= 3; sequence++) {
      var message = Message.of(SessionId.of("a"), Payload.text("x"));
      var delivery = new Delivery(message, sequence, 1, Instant.EPOCH);
      messages.feed(new FoundMessage(delivery, false, Optional.empty(), Instant.MAX));
    }
  }

  @Test
  void aFailedMessageComesAgainBeforeWhatWasHandedOutBehindIt() {
    take(1);
    messages.settled(1);
    take(2);
    assertThat(budget.used()).isZero();

    messages.retry(2);

    assertThat(budget.used()).isEqualTo(2);
    var again = take(3);
    assertThat(again).extracting(Delivery::sequence).containsExactly(2L, 3L);
    assertThat(again).extracting(Delivery::attempt).containsExactly(2, 1);
  }

  /** The failed message itself is still in the hands of its consumer. */
  @Test
  void whatIsBehindARetryThatFailedComesAgain() {
    take(3);

    messages.takeBackBehind(1);

    assertThat(messages.attemptOf(1)).isEqualTo(1);
    assertThat(take(3)).extracting(Delivery::sequence).containsExactly(2L, 3L);
  }

  private List<Delivery> take(int most) {
    return messages.handOut(most, 0, false, Instant.EPOCH);
  }
}
