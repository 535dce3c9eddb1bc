package dev.sessionkeeper.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.BatchLimit;
import dev.sessionkeeper.spi.DeadLetter;
import dev.sessionkeeper.spi.DeadLetterQueues;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.ResumableSessions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * A receive and a page of dead letters end at their byte limit; messages beyond it are untouched:
 * S-12.
 */
public abstract class BoundedBytesContract extends RemovalContract {
  private static final int MOST_BYTES = 4500;
  private static final BatchLimit FOUR_BODIES = new BatchLimit(100, MOST_BYTES);
  private static final SessionId SESSION = SessionId.of("a");

  @Test
  @ContractRule("S-12")
  void anUnorderedReceiveLocksOnlyWhatFits() throws Exception {
    declared(QueueSettings.unordered().withMaxDeliveryCount(1));
    provider().send(queue(), bodies(10, Optional.empty()));
    var source = provider().messages(queue());
    var attempts = new ArrayList<Integer>();

    while (attempts.size() < 10) {
      var batch = source.receive(FOUR_BODIES, time().patience());
      assertThat(batch).hasSizeBetween(1, 4);
      batch.forEach(each -> attempts.add(each.delivery().attempt()));
    }

    assertThat(attempts).containsOnly(1);
  }

  @Test
  @ContractRule("S-12")
  void propertiesCountAsBytes() throws Exception {
    declared(QueueSettings.unordered());
    var bare = Message.unordered(Payload.empty());
    for (int i = 0; i < 6; i++) {
      sent(bare.withId(MessageId.random()).withProperty("p", "x".repeat(999)));
    }

    assertThat(provider().messages(queue()).receive(FOUR_BODIES, time().patience()))
        .hasSizeBetween(1, 4);
  }

  @Test
  @ContractRule("S-12")
  void aMessageLargerThanTheLimitIsReceivedAlone() throws Exception {
    ordered();
    provider().send(queue(), bodies(2, Optional.of(SESSION)));

    try (var session = accepted()) {
      assertThat(session.receive(new BatchLimit(100, 10), time().patience())).hasSize(1);
    }
  }

  @Test
  @ContractRule("S-12")
  void aReceiveOfASharedLeaseHandsOutOnlyWhatFitsAndGoesOnInOrder() throws Exception {
    declared(QueueSettings.ordered().withMaxDeliveryCount(1));
    provider().send(queue(), bodies(10, Optional.of(SESSION)));
    var handled = new ArrayList<Delivery>();
    try (var session = shared()) {
      while (handled.size() < 10) {
        var batch = session.receive(FOUR_BODIES, time().patience());
        assertThat(batch).hasSizeBetween(1, 4);
        assertThat(session.receive(FOUR_BODIES, time().blink())).as("asked again").isEqualTo(batch);
        handled.addAll(batch);
        complete(session, batch.toArray(Delivery[]::new));
      }
    }
    assertThat(handled).extracting(Delivery::sequence).isSorted();
    assertThat(handled).extracting(Delivery::attempt).containsOnly(1);
  }

  @Test
  @ContractRule("S-12a")
  void aPageOfDeadLettersEndsWhereItsBytesEnd() throws Exception {
    var queues = provider(DeadLetterQueues.class);
    declared(QueueSettings.unordered());
    provider().send(queue(), bodies(10, Optional.empty()));
    var source = provider().messages(queue());
    for (int i = 0; i < 10; i++) {
      var each = source.receive(1, time().patience()).getFirst();
      finished(source.settle(each.receipt(), Settlement.deadLetter("bad")));
    }

    var sizes = new ArrayList<Integer>();
    var ids = new ArrayList<String>();
    var request = Page.Request.first(100).withMaxBytes(MOST_BYTES);
    for (Optional<String> cursor = Optional.of(""); cursor.isPresent(); ) {
      var page = queues.deadLetters(queue(), Optional.empty(), request);
      sizes.add(page.items().size());
      page.items().stream().map(DeadLetter::id).forEach(ids::add);
      cursor = page.next();
      request = new Page.Request(100, cursor, MOST_BYTES);
    }

    assertThat(sizes).containsExactly(4, 4, 2);
    assertThat(ids).hasSize(10).doesNotHaveDuplicates();
  }

  /** Returns a session held as the server holds it for its clients. */
  private HeldSession shared() throws InterruptedException {
    var sessions = sessions(ResumableSessions.class);
    return sessions.resume(SESSION, accepted().lease().epoch()).orElseThrow();
  }

  private static List<Message> bodies(int count, Optional<SessionId> session) {
    var body = Payload.text("x".repeat(1000));
    var messages = new ArrayList<Message>();
    for (int i = 0; i < count; i++) {
      messages.add(
          session.map(id -> Message.of(id, body)).orElseGet(() -> Message.unordered(body)));
    }
    return messages;
  }
}
