package dev.sessionkeeper.sqs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.CountableQueues.Counts;
import dev.sessionkeeper.spi.DeadLetterQueues.Selection;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.HeldSession.Settled;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/** Tests behaviour beyond the contract that only SQS has. */
@Execution(ExecutionMode.SAME_THREAD)
class SqsQueueProviderTest {
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final RefuseSomeEntries REFUSE = new RefuseSomeEntries();
  private static TestSqs sqs;
  private SqsQueueProvider provider;
  private QueueName queue;

  @BeforeAll
  static void startServer() {
    sqs = TestSqs.start(new RefuseExpiredReceipts(), REFUSE);
  }

  @AfterAll
  static void stopServer() {
    sqs.close();
  }

  @BeforeEach
  void open() {
    provider = SqsQueueProvider.create(sqs.client());
    queue = QueueName.of("sqs.test-" + UUID.randomUUID().toString().substring(0, 8));
    provider.declare(queue, QueueSettings.ordered());
  }

  @AfterEach
  void close() {
    provider.close();
  }

  @Test
  void theCountsOfSqsAreTold() {
    provider.send(
        queue,
        List.of(
            Message.of(SessionId.of("a"), Payload.text("1")),
            Message.of(SessionId.of("b"), Payload.text("2"))));

    assertThat(provider.counts(queue)).isEqualTo(new Counts(2, OptionalLong.of(0), 0));
    assertThatThrownBy(() -> provider.counts(QueueName.of("none")))
        .isInstanceOf(KeeperException.UnknownQueue.class);
  }

  @Test
  void aDeletedQueueTakesItsDeadLetterQueueAndStateAlong() {
    var states = new MemorySessionStateStore();
    try (var other = SqsQueueProvider.builder(sqs.client()).states(states).build()) {
      states.open(queue, SessionId.of("a"), 1);
      states.write(
          queue,
          SessionId.of("a"),
          1,
          new SessionState.Write(new byte[1], SessionState.ANY_VERSION));

      assertThat(other.delete(queue)).isTrue();

      assertThat(states.read(queue, SessionId.of("a"))).isEqualTo(SessionState.none());
      assertThat(
              sqs.client().listQueues(request -> request.queueNamePrefix("sqs_test-")).queueUrls())
          .noneMatch(url -> url.contains(queue.value().substring(9)));
    }
  }

  @Test // A name with a dot once could not be FIFO, although FIFO needs a dot.
  void aQueueIsProvisionedAsFifoWithItsDeadLettersAndASafetyNet() {
    var url =
        sqs
            .client()
            .listQueues(request -> request.queueNamePrefix("sqs_test-"))
            .queueUrls()
            .stream()
            .filter(each -> each.contains(queue.value().substring(9)) && !each.contains("-dead"))
            .findFirst()
            .orElseThrow();
    var attributes =
        sqs.client()
            .getQueueAttributes(
                request -> request.queueUrl(url).attributeNames(QueueAttributeName.ALL))
            .attributes();

    assertThat(url).endsWith(".fifo");
    assertThat(attributes)
        .containsEntry(QueueAttributeName.VISIBILITY_TIMEOUT, "60")
        .containsEntry(QueueAttributeName.FIFO_QUEUE, "true");
    assertThat(attributes.get(QueueAttributeName.REDRIVE_POLICY))
        .contains("1000")
        .contains("-dead");
    assertThat(provider.queues()).contains(queue);
  }

  @Test // The dead letter is written before the message is deleted.
  void aMessageWhoseDeadLetterCannotBeWrittenIsNotDeleted() throws Exception {
    send("a", "a1");
    try (var session = accept()) {
      var delivery = session.receive(1, PATIENCE).getFirst();
      REFUSE.nextSend("0");
      var settled = new Settled(delivery.sequence(), Settlement.deadLetter("bad"));
      assertThat(session.settle(List.of(settled)).toCompletableFuture())
          .failsWithin(PATIENCE)
          .withThrowableThat()
          .withCauseInstanceOf(KeeperException.Unavailable.class);
    }
    assertThat(drain()).containsExactly("a1");
  }

  @Test // A batch is not atomic, and the outcome says so.
  void aRefusedMessageIsNamedAndStopsItsSession() throws Exception {
    var batch =
        IntStream.range(0, 15).mapToObj(i -> message(i % 2 == 0 ? "a" : "b", "m" + i)).toList();
    REFUSE.nextSend("8");

    var outcomes = provider.send(queue, batch);

    assertThat(outcomes.get(8)).isInstanceOf(SendOutcome.Refused.class);
    // The next batch has no message of that session; the other session continues.
    assertThat(outcomes.subList(10, 15))
        .extracting(outcome -> outcome instanceof SendOutcome.Refused)
        .containsExactly(true, false, true, false, true);
    assertThat(drain())
        .containsExactlyInAnyOrder(
            "m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m9", "m11", "m13");
  }

  @Test
  void whatWasSettledBeforeACloseIsGoneAlthoughNobodyWaitedForIt() throws Exception {
    for (int i = 0; i < 5; i++) {
      send("s" + i, "m" + i);
    }
    var stages = new ArrayList<CompletableFuture<Void>>();
    for (int i = 0; i < 5; i++) {
      try (var session = accept()) {
        var delivery = session.receive(1, PATIENCE).getFirst();
        var settled = new Settled(delivery.sequence(), Settlement.complete());
        stages.add(session.settle(List.of(settled)).toCompletableFuture());
      }
    }

    provider.close(); // Awaits each stage.

    assertThat(stages).allSatisfy(stage -> assertThat(stage).isCompleted());
    provider = SqsQueueProvider.create(sqs.client());
    assertThat(drain()).isEmpty();
  }

  @Test
  void aSessionWithBlanksAndALookAlikeOfItsDigestAreTwoSessions() throws Exception {
    send("a b", "1");
    send("~a", "2");
    var ids = new ArrayList<String>();
    for (int i = 0; i < 2; i++) {
      try (var session = accept()) {
        ids.add(session.id().value());
        complete(session);
      }
    }
    assertThat(ids).containsExactlyInAnyOrder("a b", "~a");
  }

  @Test // Messages of groups that no worker takes are released.
  void whatAReceiveBringsBesidesIsNotKeptFromOthers() throws Exception {
    send("a", "a1");
    send("b", "b1");
    try (var other = SqsQueueProvider.create(sqs.client());
        var session = accept();
        var second = accept(other)) {
      assertThat(List.of(session.id().value(), second.id().value()))
          .containsExactlyInAnyOrder("a", "b");
    }
  }

  @Test
  void replayedMessagesAreAppendedInTheirOldOrderAndMarked() throws Exception {
    send("a", "a1");
    send("a", "a2");
    for (int i = 0; i < 2; i++) {
      try (var session = accept()) {
        var delivery = session.receive(1, PATIENCE).getFirst();
        settle(session, delivery.sequence(), Settlement.deadLetter("bad"));
      }
    }
    send("a", "a3");

    assertThat(provider.replay(queue, new Selection.All())).isEqualTo(2);

    assertThat(drain()).containsExactly("a3", "a1", "a2");
    assertThat(provider.deadLetters(queue, Optional.empty(), Page.Request.first(10)).items())
        .isEmpty();
  }

  @Test
  void withoutAStateStoreThereIsNoStateAndTheCapabilitiesSaySo() throws Exception {
    assertThat(provider.capabilities().reasonAgainst("S-09")).isPresent();
    send("a", "a1");
    try (var session = accept()) {
      assertThatThrownBy(session::state).isInstanceOf(KeeperException.NotSupported.class);
    }
  }

  @Test
  void aTimeToLiveThatSqsCannotKeepIsRefusedByName() {
    var long1 = QueueSettings.ordered().withMessageTtl(Duration.ofDays(15));
    assertThatThrownBy(() -> provider.declare(QueueName.of("late"), long1))
        .isInstanceOf(KeeperException.Misconfigured.class)
        .hasMessageContaining("PT336H");
  }

  @Test
  void twoProcessesShareTheSessionsAndKeepTheOrder() throws Exception {
    for (int i = 0; i < 30; i++) {
      send("s" + i % 3, Integer.toString(i));
    }
    var handled = new ArrayList<String>();
    try (var other = SqsQueueProvider.create(sqs.client())) {
      while (handled.size() < 30) {
        try (var session = accept(handled.size() % 2 == 0 ? provider : other)) {
          handled.add(complete(session));
        }
      }
    }
    for (int s = 0; s < 3; s++) {
      int remainder = s;
      assertThat(handled.stream().map(Integer::parseInt).filter(n -> n % 3 == remainder))
          .isSorted()
          .hasSize(10);
    }
  }

  private static Message message(String session, String body) {
    return Message.of(SessionId.of(session), Payload.text(body));
  }

  private void send(String session, String body) {
    provider.send(queue, List.of(message(session, body)));
  }

  private HeldSession accept() throws InterruptedException {
    return accept(provider);
  }

  private HeldSession accept(SqsQueueProvider by) throws InterruptedException {
    var result = by.sessions(queue).acceptNext(Owner.of("test"), PATIENCE);
    assertThat(result).isInstanceOf(AcceptResult.Accepted.class);
    return ((AcceptResult.Accepted) result).session();
  }

  private static String complete(HeldSession session) throws InterruptedException {
    var delivery = session.receive(1, PATIENCE).getFirst();
    settle(session, delivery.sequence(), Settlement.complete());
    return delivery.payload().asText();
  }

  private static void settle(HeldSession session, long sequence, Settlement settlement) {
    session.settle(List.of(new Settled(sequence, settlement))).toCompletableFuture().join();
  }

  private List<String> drain() throws InterruptedException {
    var bodies = new ArrayList<String>();
    while (provider.sessions(queue).acceptNext(Owner.of("test"), Duration.ofSeconds(1))
        instanceof AcceptResult.Accepted accepted) {
      try (var session = accepted.session()) {
        for (var batch = session.receive(10, Duration.ZERO);
            !batch.isEmpty();
            batch = session.receive(10, Duration.ZERO)) {
          for (var delivery : batch) {
            bodies.add(delivery.payload().asText());
            settle(session, delivery.sequence(), Settlement.complete());
          }
        }
      }
    }
    return bodies;
  }
}
