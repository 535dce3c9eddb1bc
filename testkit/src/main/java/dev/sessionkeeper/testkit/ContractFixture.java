package dev.sessionkeeper.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.AddressableSessions;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.HeldSession.Settled;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.ExtendWith;

/** The fixture of every contract test: a provider, a queue of its own, and time. */
@ExtendWith({RecordContractResults.class, RepeatAfterStall.class})
public abstract class ContractFixture {
  /** The shortest lock; leases are let run out in real time too. */
  protected static final Duration LOCK = Duration.ofSeconds(1);

  /** The owner of whom most tests speak. */
  protected static final Owner OWNER = Owner.of("contract");

  /** More than any test sends: a provider that never ends must not make the kit endless. */
  private static final int MANY = 1000;

  private ContractTime time = ContractTime.real();
  private QueueProvider provider;
  private QueueName queue;

  // Both are set before each test; a test never sees these.
  @SuppressWarnings("NullAway.Init")
  protected ContractFixture() {}

  /** A provider that runs by this clock, or, if its store has a clock of its own, by that. */
  protected abstract QueueProvider createProvider(TimeSource time);

  /** How time passes. The default is real time. */
  protected ContractTime contractTime() {
    return ContractTime.real();
  }

  /** A queue that no other test uses; its settings are declared by the tests. */
  protected QueueName newQueueName() {
    return QueueName.of("contract-" + UUID.randomUUID().toString().substring(0, 13));
  }

  /** Names the file of results, {@code target/contract/<name>.json}. Default: the technology. */
  protected String resultName() {
    return provider.capabilities().provider();
  }

  @BeforeEach
  final void open(TestInfo test) {
    open();
    test.getTestMethod()
        .map(method -> method.getAnnotation(ContractRule.class))
        .flatMap(rule -> provider.capabilities().reasonAgainst(rule.value()))
        .ifPresent(ContractFixture::skip);
  }

  private void open() {
    time = contractTime();
    provider = createProvider(time.source());
    queue = newQueueName();
  }

  @AfterEach
  final void close() {
    provider.close();
  }

  /** Begins the test anew, with a queue that the first try has not seen. */
  final void reopen() {
    close();
    open();
  }

  /** Returns whether a stall of the machine lets leases of the test expire. */
  final boolean runsInRealTime() {
    return time instanceof RealContractTime;
  }

  /** Ends the test as skipped: the provider says that it cannot do this. */
  protected static void skip(String reason) {
    Assumptions.abort(reason);
  }

  protected final QueueProvider provider() {
    return provider;
  }

  /** The provider as something that only some are; skipped where this one is not. */
  protected final <T> T provider(Class<T> ability) {
    if (!ability.isInstance(provider)) {
      skip(Abilities.missing(ability));
    }
    return ability.cast(provider);
  }

  protected final <T> T sessions(Class<T> ability) {
    var sessions = provider.sessions(queue);
    if (!ability.isInstance(sessions)) {
      skip(Abilities.missing(ability));
    }
    return ability.cast(sessions);
  }

  protected final ContractTime time() {
    return time;
  }

  protected final void pass(Duration duration) {
    time.pass(duration);
  }

  protected final QueueName queue() {
    return queue;
  }

  /** An ordered queue whose locks last longer than any test. */
  protected final void ordered() {
    declared(QueueSettings.ordered());
  }

  /** An ordered queue whose locks run out when {@link #LOCK} has passed. */
  protected final void orderedWithShortLock() {
    declared(shortLock());
  }

  protected final void declared(QueueSettings settings) {
    provider.declare(queue, settings);
  }

  protected static QueueSettings shortLock() {
    return QueueSettings.ordered().withLockDuration(LOCK);
  }

  protected static Message message(String session, String body) {
    return Message.of(SessionId.of(session), Payload.text(body));
  }

  /** Sends one message after the other, each in a send of its own. */
  protected final void sent(String session, String... bodies) {
    for (var body : bodies) {
      sent(message(session, body));
    }
  }

  protected final SendOutcome sent(Message message) {
    return provider.send(queue, List.of(message)).getFirst();
  }

  /** The next session, which must be there. */
  protected final HeldSession accepted() throws InterruptedException {
    return held(provider.sessions(queue).acceptNext(OWNER, time.patience()));
  }

  /** A chosen session, which must be there. */
  protected final HeldSession accepted(String session) throws InterruptedException {
    return held(
        sessions(AddressableSessions.class).accept(SessionId.of(session), OWNER, time.patience()));
  }

  protected final AcceptResult tryAccept(String session) throws InterruptedException {
    return sessions(AddressableSessions.class)
        .accept(SessionId.of(session), Owner.of("another"), time.blink());
  }

  protected final AcceptResult tryAcceptNext() throws InterruptedException {
    return provider.sessions(queue).acceptNext(Owner.of("another"), time.blink());
  }

  private static HeldSession held(AcceptResult result) {
    assertThat(result).isInstanceOf(AcceptResult.Accepted.class);
    return ((AcceptResult.Accepted) result).session();
  }

  /** The next message of a session, which must be there. */
  protected final Delivery received(HeldSession session) throws InterruptedException {
    var batch = session.receive(1, time.patience());
    assertThat(batch).as("messages of session %s", session.id()).hasSize(1);
    return batch.getFirst();
  }

  /** Receives that many messages of a session, in as many calls as needed. */
  protected final List<Delivery> received(HeldSession session, int count)
      throws InterruptedException {
    var all = new ArrayList<Delivery>();
    while (all.size() < count) {
      var batch = session.receive(count - all.size(), time.patience());
      assertThat(batch).as("more messages behind %s", all).isNotEmpty();
      all.addAll(batch);
    }
    return all;
  }

  protected final void assertNothingToReceive(HeldSession session) throws InterruptedException {
    assertThat(session.receive(10, time.blink())).isEmpty();
  }

  protected static void settle(HeldSession session, Delivery delivery, Settlement settlement) {
    finished(session.settle(List.of(new Settled(delivery.sequence(), settlement))));
  }

  protected static void complete(HeldSession session, Delivery... deliveries) {
    finished(
        session.settle(
            Stream.of(deliveries)
                .map(d -> new Settled(d.sequence(), Settlement.complete()))
                .toList()));
  }

  /** Waits for a settlement and throws what it failed with. */
  protected static void finished(CompletionStage<Void> stage) {
    try {
      stage.toCompletableFuture().join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : e;
    }
  }

  /** Completes everything there is now, session by session, in the order it is handed out. */
  protected final List<String> drained() throws InterruptedException {
    var bodies = new ArrayList<String>();
    while (bodies.size() < MANY && tryAcceptNext() instanceof AcceptResult.Accepted accepted) {
      try (var session = accepted.session()) {
        for (var batch = session.receive(10, time.blink());
            !batch.isEmpty() && bodies.size() < MANY;
            batch = session.receive(10, time.blink())) {
          complete(session, batch.toArray(Delivery[]::new));
          batch.forEach(delivery -> bodies.add(bodyOf(delivery)));
        }
      }
    }
    return bodies;
  }

  protected static String bodyOf(Delivery delivery) {
    return delivery.payload().asText();
  }

  protected static List<String> bodiesOf(List<Delivery> deliveries) {
    return deliveries.stream().map(ContractFixture::bodyOf).toList();
  }
}
