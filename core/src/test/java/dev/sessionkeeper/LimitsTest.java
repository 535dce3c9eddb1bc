package dev.sessionkeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class LimitsTest {
  private static final QueueName QUEUE = QueueName.of("orders");
  private static final Limits LIMITS = new Limits(2, 10, 1, 8);
  private static final Message FITS = Message.of(SessionId.of("s"), Payload.text("0123456789"));

  @Test
  void whatFitsIsTaken() {
    assertThatCode(
            () ->
                LIMITS.check(
                    QUEUE, QueueMode.ORDERED, List.of(FITS, FITS.withProperty("abcd", "efgh"))))
        .doesNotThrowAnyException();
  }

  @Test
  void theErrorNamesLimitAndValue() {
    assertExceeded("maxBatch", 2, 3, Collections.nCopies(3, FITS));
    assertExceeded(
        "maxBodyBytes",
        10,
        11,
        List.of(Message.of(SessionId.of("s"), Payload.text("0123456789a"))));
    assertExceeded(
        "maxProperties", 1, 2, List.of(FITS.withProperty("a", "1").withProperty("b", "2")));
  }

  @Test
  void propertyBytesAreThoseOfUtf8() {
    assertExceeded("maxPropertyBytes", 8, 9, List.of(FITS.withProperty("abcd", "efghi")));
    assertExceeded("maxPropertyBytes", 8, 9, List.of(FITS.withProperty("abcde", "ää")));
    assertExceeded("maxPropertyBytes", 8, 9, List.of(FITS.withProperty("abcdef", "€")));
    assertExceeded("maxPropertyBytes", 8, 9, List.of(FITS.withProperty("abcde", "😀")));
  }

  @Test
  void everyMessageOfABatchIsChecked() {
    assertExceeded(
        "maxBodyBytes",
        10,
        12,
        List.of(FITS, Message.of(SessionId.of("s"), Payload.text("x".repeat(12)))));
  }

  @Test
  void theModeOfTheQueueMustFit() {
    var loose = Message.unordered(Payload.empty());
    assertThatThrownBy(() -> LIMITS.check(QUEUE, QueueMode.ORDERED, List.of(loose)))
        .isInstanceOf(KeeperException.SessionModeMismatch.class)
        .hasMessageContaining("needs a session");
    assertThatThrownBy(() -> LIMITS.check(QUEUE, QueueMode.UNORDERED, List.of(FITS)))
        .isInstanceOf(KeeperException.SessionModeMismatch.class)
        .hasMessageContaining("must not have a session");
  }

  private static void assertExceeded(
      String limit, long allowed, long actual, List<Message> messages) {
    assertThatThrownBy(() -> LIMITS.check(QUEUE, QueueMode.ORDERED, messages))
        .isInstanceOfSatisfying(
            KeeperException.LimitExceeded.class,
            e -> {
              assertThat(e.limit()).isEqualTo(limit);
              assertThat(e.allowed()).isEqualTo(allowed);
              assertThat(e.actual()).isEqualTo(actual);
              assertThat(e).hasMessage("[SK-301] " + limit + " is " + allowed + ", was " + actual);
            });
  }
}
