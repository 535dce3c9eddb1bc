package dev.sessionkeeper.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.memory.MemoryQueueProvider;
import dev.sessionkeeper.processor.BatchSettlement;
import dev.sessionkeeper.processor.FailureRule;
import dev.sessionkeeper.processor.ProcessorOptions;
import dev.sessionkeeper.processor.SessionContext;
import dev.sessionkeeper.processor.SessionProcessor;
import dev.sessionkeeper.testkit.ProcessorProbe;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import io.micrometer.observation.transport.ReceiverContext;
import io.micrometer.observation.transport.SenderContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.support.PropertySourcesPlaceholderConfigurer;
import org.springframework.core.env.MapPropertySource;
import tools.jackson.databind.json.JsonMapper;

/** Listeners of a plain Spring context, with queues in memory. */
class ListenersTest {
  private static final QueueName ORDERS = QueueName.of("orders");

  record OrderPlaced(String customer, int number) {}

  private final MemoryQueueProvider provider = MemoryQueueProvider.create();
  private final ProcessorProbe probe = new ProcessorProbe();
  private final TestObservationRegistry observations = TestObservationRegistry.create();
  private final List<FailureRule> rules = new ArrayList<>();
  private final Codecs codecs = Codecs.json(JsonMapper.builder().build());
  private final SessionkeeperTemplate template =
      new SessionkeeperTemplate(provider::send, codecs, observations);
  private @Nullable AnnotationConfigApplicationContext context;

  @AfterEach
  void close() {
    if (context != null) {
      context.close();
    }
    provider.close();
  }

  private <T> T start(T listener) {
    provider.declare(ORDERS, QueueSettings.ordered());
    context = new AnnotationConfigApplicationContext();
    context
        .getEnvironment()
        .getPropertySources()
        .addFirst(
            new MapPropertySource("test", Map.of("orders.queue", "orders", "orders.slots", "3")));
    context.registerBean(PropertySourcesPlaceholderConfigurer.class);
    context.registerBean(FindListeners.class);
    context.registerBean(SessionListeners.class, () -> new SessionListeners(provider, settings()));
    @SuppressWarnings("unchecked")
    var type = (Class<T>) listener.getClass();
    context.registerBean("shop", type, () -> listener);
    context.refresh();
    return listener;
  }

  private ListenerSettings settings() {
    return new ListenerSettings(
        ProcessorOptions.ofDefaults()
            .withRetry(new RetryPolicy(3, Duration.ofMillis(1), 1, Duration.ofMillis(1), 0))
            .withDrainTimeout(Duration.ofSeconds(5)),
        true,
        codecs,
        rules,
        List.of((listener, queue, processor) -> processor.listener(probe)),
        observations,
        Optional.empty());
  }

  private SessionListeners listeners() {
    return context.getBean(SessionListeners.class);
  }

  private void await(int completed) throws InterruptedException {
    probe.awaitCompleted(completed, Duration.ofSeconds(20));
  }

  static class Typed {
    final List<String> seen = new CopyOnWriteArrayList<>();
    final AtomicBoolean fails = new AtomicBoolean(true);

    @SessionListener(queue = "${orders.queue}", concurrency = "${orders.slots}")
    void on(OrderPlaced order, SessionContext session, SessionId id, Delivery delivery) {
      if (order.number() == 2 && fails.getAndSet(false)) {
        throw new IllegalStateException("once");
      }
      assertThat(session.id()).isEqualTo(id);
      seen.add(order.customer() + order.number() + "@" + delivery.attempt());
    }
  }

  @Test
  void typedPayloadsAreHandledInOrderAndAFailureIsRetriedInPlace() throws InterruptedException {
    var typed = start(new Typed());
    for (int i = 1; i <= 3; i++) {
      template.send("orders", "c-42", new OrderPlaced("c-42", i));
    }
    await(3);

    assertThat(typed.seen).containsExactly("c-421@1", "c-422@2", "c-423@1");
    assertThat(listeners().all())
        .singleElement()
        .satisfies(
            listener -> {
              assertThat(listener.id()).isEqualTo("shop.on");
              assertThat(listener.concurrency()).isEqualTo(3);
              assertThat(listener.state()).isEqualTo(SessionProcessor.State.RUNNING);
            });
  }

  static class Settling {
    @SessionListener(queue = "orders", id = "ledger")
    Settlement book(String text, @Property("tenant") String tenant) {
      return text.equals("bad")
          ? Settlement.deadLetter("bad for " + tenant)
          : Settlement.complete();
    }
  }

  @Test
  void aListenerMayReturnASettlementAndTakeProperties() throws InterruptedException {
    start(new Settling());
    template.to("orders").session("a").property("tenant", "t1").send("bad");
    template.to("orders").session("a").send("no tenant");
    template.to("orders").session("a").property("tenant", "t1").send("good");
    await(1);

    assertThat(probe.deadLettered())
        .extracting(delivery -> delivery.payload().asText())
        .containsExactly("bad", "no tenant");
    assertThat(probe.deadLettered()).extracting(Delivery::attempt).containsOnly(1);
  }

  static class Later {
    @SessionListener(queue = "orders")
    CompletionStage<Settlement> on(byte[] body) {
      return body.length > 3
          ? CompletableFuture.failedFuture(new IllegalArgumentException("long"))
          : CompletableFuture.completedFuture(Settlement.complete());
    }
  }

  @Test
  void aListenerMayAnswerLaterAndRulesSeeItsOwnException() throws InterruptedException {
    rules.add(FailureRule.deadLetterOn(IllegalArgumentException.class));
    start(new Later());
    template.send("orders", "a", new byte[4]);
    template.send("orders", "a", new byte[3]);
    await(1);

    assertThat(probe.deadLettered()).hasSize(1);
    assertThat(probe.retried()).isEmpty();
  }

  @Test
  void anUnreadableBodyIsADeadLetterAtOnce() throws InterruptedException {
    start(new Typed());
    template.send("orders", "a", "no json");
    template.send("orders", "a", new OrderPlaced("a", 1));
    await(1);

    assertThat(probe.deadLettered()).hasSize(1);
  }

  static class Batched {
    final List<List<OrderPlaced>> calls = new CopyOnWriteArrayList<>();

    @SessionListener(queue = "orders", batch = "10", autoStartup = "false")
    BatchSettlement on(List<OrderPlaced> orders) {
      calls.add(orders);
      return BatchSettlement.complete();
    }
  }

  @Test
  void aBatchHasTheMessagesOfOneSessionUpToTheUnreadableOne() throws InterruptedException {
    var batched = start(new Batched());
    template.send("orders", "a", new OrderPlaced("a", 1));
    template.send("orders", "a", new OrderPlaced("a", 2));
    template.send("orders", "a", "no json");
    template.send("orders", "a", new OrderPlaced("a", 3));
    assertThat(listeners().all().get(0).state()).isEqualTo(SessionProcessor.State.NEW);
    listeners().all().get(0).resume();
    await(3);

    assertThat(batched.calls)
        .containsExactly(
            List.of(new OrderPlaced("a", 1), new OrderPlaced("a", 2)),
            List.of(new OrderPlaced("a", 3)));
    assertThat(probe.deadLettered()).hasSize(1);
  }

  @Test
  void aListenerIsPausedResumedAndResized() throws InterruptedException {
    var typed = start(new Typed());
    var listener = listeners().find("shop.on").orElseThrow();
    listener.pause();
    listener.changeConcurrency(5);
    template.send("orders", "a", new OrderPlaced("a", 1));
    assertThat(listener.state()).isEqualTo(SessionProcessor.State.PAUSED);
    assertThat(typed.seen).isEmpty();
    listener.resume();
    await(1);
    assertThat(listener.concurrency()).isEqualTo(5);
  }

  @Test
  void aStoppedContextDrainsAndCanStartAgain() throws InterruptedException {
    start(new Typed());
    context.stop();
    assertThat(listeners().all().get(0).state()).isEqualTo(SessionProcessor.State.CLOSED);
    assertThat(listeners().all().get(0).isStoppedByPoison()).isFalse();
    context.start();
    template.send("orders", "a", new OrderPlaced("a", 1));
    await(1);
  }

  @Test
  void sendsAndListenersAreObservedWithoutSessionsInTags() throws InterruptedException {
    start(new Typed());
    template.send("orders", "a", new OrderPlaced("a", 1));
    await(1);

    Awaitility.await()
        .untilAsserted(
            () ->
                TestObservationRegistryAssert.assertThat(observations)
                    .hasObservationWithNameEqualTo("keeper.listener")
                    .that()
                    .hasLowCardinalityKeyValue("queue", "orders")
                    .hasLowCardinalityKeyValue("listener", "shop.on")
                    .hasLowCardinalityKeyValue("outcome", "complete")
                    .hasHighCardinalityKeyValue("session", "a")
                    .hasBeenStopped());
    TestObservationRegistryAssert.assertThat(observations)
        .hasObservationWithNameEqualTo("keeper.send")
        .that()
        .hasLowCardinalityKeyValue("queue", "orders")
        .hasLowCardinalityKeyValue("outcome", "sent")
        .hasBeenStopped();
  }

  /**
   * Writes the trace context when sending and reads it when handling, as the bridge of a tracer
   * does.
   */
  private record Propagate(String trace, List<String> read)
      implements ObservationHandler<Observation.Context> {
    @Override
    public void onStart(Observation.Context context) {
      switch (context) {
        case SenderContext<?> sender -> write(sender);
        case ReceiverContext<?> receiver -> read(receiver);
        default -> {}
      }
    }

    private <C> void write(SenderContext<C> context) {
      context.getSetter().set(context.getCarrier(), "traceparent", trace);
    }

    private <C> void read(ReceiverContext<C> context) {
      read.add(context.getGetter().get(context.getCarrier(), "traceparent"));
    }

    @Override
    public boolean supportsContext(Observation.Context context) {
      return true;
    }
  }

  @Test
  void theTraceContextTravelsInTheMessage() throws InterruptedException {
    var trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    List<String> read = new CopyOnWriteArrayList<>();
    observations.observationConfig().observationHandler(new Propagate(trace, read));
    start(new Typed());
    template.send("orders", "a", new OrderPlaced("a", 1));
    await(1);
    assertThat(read).containsExactly(trace);
  }

  static class TwoPayloads {
    @SessionListener(queue = "orders")
    void on(String first, OrderPlaced second) {}
  }

  static class WrongReturn {
    @SessionListener(queue = "orders")
    int on(String first) {
      return first.length();
    }
  }

  static class NoList {
    @SessionListener(queue = "orders", batch = "3")
    void on(String first) {}
  }

  static class Transactional {
    @SessionListener(queue = "orders", transactional = true)
    void on(String first) {}
  }

  static class NoBoolean {
    @SessionListener(queue = "orders", autoStartup = "yes")
    void on(String first) {}
  }

  static class NoNumber {
    @SessionListener(queue = "orders", concurrency = "many")
    void on(String first) {}
  }

  @Test
  void aWrongListenerIsRefusedWhenTheApplicationStarts() {
    refused(new TwoPayloads(), "more than one payload");
    refused(new WrongReturn(), "allowed are void, Settlement and a CompletionStage");
    refused(new NoList(), "takes its messages as a List");
    refused(new NoNumber(), "concurrency of @SessionListener");
    refused(new NoBoolean(), "autoStartup of @SessionListener");
    refused(new Transactional(), "needs queues in PostgreSQL");
  }

  private void refused(Object listener, String why) {
    assertThatThrownBy(() -> start(listener)).hasStackTraceContaining(why);
  }

  @Test
  void aListenerOfAnUnknownQueueIsRefused() {
    assertThatThrownBy(
            () ->
                start(
                    new Object() {
                      @SessionListener(queue = "nowhere")
                      void on(String text) {}
                    }))
        .rootCause()
        .isInstanceOf(KeeperException.UnknownQueue.class);
  }

  @Test
  void theTemplateTakesKeysFromValues() throws InterruptedException {
    var typed = start(new Typed());
    template
        .to("orders")
        .id("one")
        .ttl(Duration.ofHours(1))
        .send(
            new OrderPlaced("c-7", 1),
            dev.sessionkeeper.SessionKeyExtractor.by(OrderPlaced::customer));
    await(1);
    assertThat(typed.seen).containsExactly("c-71@1");
    assertThat(probe.completed().get(0).message().ttl()).contains(Duration.ofHours(1));
  }
}
