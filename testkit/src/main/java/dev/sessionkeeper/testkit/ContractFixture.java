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

/** The fixture of every contract test: a provider, a queue of its own, and a clock. */
@ExtendWith({RecordContractResults.class, RepeatAfterStall.class})
public abstract class ContractFixture {
  /** The shortest lock, because leases also expire in real time. */
  protected static final Duration LOCK = Duration.ofSeconds(1);

  /** The owner in most tests. */
  protected static final Owner OWNER = Owner.of("contract");

  /** More messages than any test sends: bounds the kit if a provider delivers without end. */
  private static final int MANY = 1000;

  private ContractTime time = ContractTime.real();
  private QueueProvider provider;
  private QueueName queue;

  // Both are set before each test; a test never sees these values.
  @SuppressWarnings("NullAway.Init")
  protected ContractFixture() {}

  /** Creates a provider with this clock, which a provider with a clock in its store ignores. */
  protected abstract QueueProvider createProvider(TimeSource time);

  /** Returns how time passes. The default is real time. */
  protected ContractTime contractTime() {
    return ContractTime.real();
  }

  /** Returns the name of a queue that no other test uses; the tests declare its settings. */
  protected QueueName newQueueName() {
    return QueueName.of("contract-" + UUID.randomUUID().toString().substring(0, 13));
  }

  /**
   * Returns the name of the file of results, {@code target/contract/<name>.json}. Default: the
   * technology.
   */
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

  /** Begins the test again, with a new queue. */
  final void reopen() {
    close();
    open();
  }

  /** Returns whether a stall of the machine lets leases of the test expire. */
  final boolean runsInRealTime() {
    return time instanceof RealContractTime;
  }

  /** Skips the test, because the provider declares that it cannot do this. */
  protected static void skip(String reason) {
    Assumptions.abort(reason);
  }

  protected final QueueProvider provider() {
    return provider;
  }

  /**
   * Returns the provider as an optional interface; skips the test if the provider does not
   * implement it.
   */
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

  /** Declares an ordered queue whose locks last longer than any test. */
  protected final void ordered() {
    declared(QueueSettings.ordered());
  }

  /** Declares an ordered queue whose locks expire after {@link #LOCK}. */
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

  /** Sends the messages one after the other, each in a send of its own. */
  protected final void sent(String session, String... bodies) {
    for (var body : bodies) {
      sent(message(session, body));
    }
  }

  protected final SendOutcome sent(Message message) {
    return provider.send(queue, List.of(message)).getFirst();
  }

  /** Accepts the next session, and fails if there is none. */
  protected final HeldSession accepted() throws InterruptedException {
    return held(provider.sessions(queue).acceptNext(OWNER, time.patience()));
  }

  /** Accepts a chosen session, and fails if there is none. */
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

  /** Receives the next message of a session, and fails if there is none. */
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

  /** Waits for a settlement, and throws its failure. */
  protected static void finished(CompletionStage<Void> stage) {
    try {
      stage.toCompletableFuture().join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : e;
    }
  }

  /**
   * Completes all present messages, session by session, and returns them in the order of delivery.
   */
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
