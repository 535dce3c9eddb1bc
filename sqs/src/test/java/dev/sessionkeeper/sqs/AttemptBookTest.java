package dev.sessionkeeper.sqs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class AttemptBookTest {
  private final AttemptBook book = new AttemptBook();

  @Test
  void aBatchMateThatNobodyHadInHandHadNoAttempt() {
    assertThat(book.received("m", 1).failures()).isZero();
    assertThat(book.received("m", 2).failures()).isZero();
  }

  @Test
  void aMessageInTheHandsOfALostOwnerHadItsAttempt() {
    book.received("m", 1);
    book.inHand("m", true);
    assertThat(book.received("m", 2).failures()).isEqualTo(1);
  }

  @Test
  void aRetryCountsOnce() {
    book.received("m", 1);
    book.inHand("m", true);
    book.again("m", 1, "no");
    var known = book.received("m", 2);
    assertThat(known.failures()).isEqualTo(1);
    assertThat(known.lastError()).isEqualTo("no");
    assertThat(known.keepsTrying()).isTrue();
  }

  @Test
  void whatAnotherProcessReceivedIsKnownButNotForCertain() {
    book.received("m", 1);
    assertThat(book.received("m", 4).elsewhere()).isEqualTo(2);
    var unseen = book.received("other", 3);
    assertThat(unseen.elsewhere()).isEqualTo(2);
    assertThat(unseen.failures()).isZero();
  }
}
