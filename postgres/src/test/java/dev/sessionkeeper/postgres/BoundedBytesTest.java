package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.BatchLimit;
import dev.sessionkeeper.spi.DeadLetter;
import dev.sessionkeeper.spi.HeldSession;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A receive and a page of dead letters end where their bytes end; the rest is untouched. */
class BoundedBytesTest {
  private static final QueueName LOOSE = QueueName.of("loose");
  private static final QueueName ORDERED = QueueName.of("ordered");
  private static final SessionId A = SessionId.of("a");
  private static final BatchLimit FOUR_BODIES = new BatchLimit(100, 4500);

  private TestDatabase database;
  private PostgresQueueProvider provider;

  @BeforeEach
  void declareTheQueues() {
    database = TestDatabase.start();
    provider = PostgresQueueProvider.create(database.pool(), PostgresOptions.ofDefaults());
    provider.declare(LOOSE, QueueSettings.unordered().withMaxDeliveryCount(1));
    provider.declare(ORDERED, QueueSettings.ordered().withMaxDeliveryCount(1));
  }

  @AfterEach
  void stop() {
    provider.close();
    database.close();
  }

  @Test
  void anUnorderedReceiveLocksOnlyWhatFits() throws Exception {
    provider.send(LOOSE, bodies(10, Optional.empty()));
    var source = provider.messages(LOOSE);

    assertThat(source.receive(FOUR_BODIES, Duration.ZERO)).hasSize(4);
    assertThat(source.receive(FOUR_BODIES, Duration.ZERO)).hasSize(4);
    var rest = source.receive(100, Duration.ZERO);
    assertThat(rest).hasSize(2);
    assertThat(rest).extracting(each -> each.delivery().attempt()).containsOnly(1);
  }

  @Test
  void propertiesCountAsBytes() throws Exception {
    var bare = Message.unordered(Payload.empty());
    for (int i = 0; i < 10; i++) {
      provider.send(
          LOOSE, List.of(bare.withId(MessageId.random()).withProperty("p", "x".repeat(999))));
    }

    assertThat(provider.messages(LOOSE).receive(FOUR_BODIES, Duration.ZERO)).hasSize(4);
  }

  @Test
  void aMessageLargerThanTheLimitIsReceivedAlone() throws Exception {
    var small = new BatchLimit(100, 10);
    provider.send(LOOSE, bodies(2, Optional.empty()));
    provider.send(ORDERED, bodies(2, Optional.of(A)));

    assertThat(provider.messages(LOOSE).receive(small, Duration.ZERO)).hasSize(1);
    try (var session = shared()) {
      assertThat(session.receive(small, Duration.ZERO)).hasSize(1);
    }
  }

  @Test
  void aLeasedReceiveHandsOutOnlyWhatFitsAndGoesOnInOrder() throws Exception {
    provider.send(ORDERED, bodies(10, Optional.of(A)));
    var handled = new ArrayList<Delivery>();
    try (var session = shared()) {
      for (var batch = session.receive(FOUR_BODIES, Duration.ZERO);
          !batch.isEmpty();
          batch = session.receive(FOUR_BODIES, Duration.ZERO)) {
        assertThat(batch).hasSizeLessThanOrEqualTo(4);
        assertThat(session.receive(FOUR_BODIES, Duration.ZERO)).as("asked again").isEqualTo(batch);
        handled.addAll(batch);
        session
            .settle(
                batch.stream()
                    .map(each -> new HeldSession.Settled(each.sequence(), Settlement.complete()))
                    .toList())
            .toCompletableFuture()
            .join();
      }
    }
    assertThat(handled).hasSize(10);
    assertThat(handled).extracting(Delivery::sequence).isSorted();
    assertThat(handled).extracting(Delivery::attempt).containsOnly(1);
  }

  @Test
  void aPageOfDeadLettersEndsWhereItsBytesEnd() throws Exception {
    provider.send(LOOSE, bodies(10, Optional.empty()));
    var source = provider.messages(LOOSE);
    for (var each : source.receive(100, Duration.ZERO)) {
      source.settle(each.receipt(), Settlement.deadLetter("bad")).toCompletableFuture().join();
    }

    var sizes = new ArrayList<Integer>();
    var ids = new ArrayList<String>();
    var request = Page.Request.first(100).withMaxBytes(4500);
    for (Optional<String> cursor = Optional.of(""); cursor.isPresent(); ) {
      var page = provider.deadLetters(LOOSE, Optional.empty(), request);
      sizes.add(page.items().size());
      page.items().stream().map(DeadLetter::id).forEach(ids::add);
      cursor = page.next();
      request = new Page.Request(100, cursor, 4500);
    }

    assertThat(sizes).containsExactly(4, 4, 2);
    assertThat(ids).hasSize(10).doesNotHaveDuplicates();
  }

  /** A session as the server holds it for its clients. */
  private HeldSession shared() throws InterruptedException {
    var sessions = provider.sessions(ORDERED);
    var accepted =
        (AcceptResult.Accepted) sessions.acceptNext(Owner.of("o"), Duration.ofSeconds(5));
    return sessions.resume(A, accepted.session().lease().epoch()).orElseThrow();
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
