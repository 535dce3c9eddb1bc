package dev.sessionkeeper.spring.boot.test;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.processor.SessionProcessor;
import dev.sessionkeeper.spi.InspectableQueues;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.spring.SessionProcessorCustomizer;
import dev.sessionkeeper.testkit.ProcessorProbe;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.beans.factory.ObjectProvider;

/** Records what the listeners of a test did, and waits for them. */
public final class SessionkeeperProbe implements SessionProcessorCustomizer {
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final ObjectProvider<QueueProvider> provider;
  private final Map<QueueName, ProcessorProbe> probes = new ConcurrentHashMap<>();

  SessionkeeperProbe(ObjectProvider<QueueProvider> provider) {
    this.provider = provider;
  }

  @Override
  public void customize(String listener, QueueName queue, SessionProcessor.Builder processor) {
    processor.listener(probe(queue));
  }

  /** Returns completed messages of a queue, in the order in which their listeners returned. */
  public List<Delivery> handled(String queue) {
    return probe(QueueName.of(queue)).completed();
  }

  /** Returns the bodies of {@link #handled} as text. */
  public List<String> handledTexts(String queue) {
    return handled(queue).stream().map(delivery -> delivery.payload().asText()).toList();
  }

  /** Returns messages of a queue that became dead letters. */
  public List<Delivery> deadLettered(String queue) {
    return probe(QueueName.of(queue)).deadLettered();
  }

  /** Returns attempts of a queue that ended with a retry. */
  public List<Delivery> retried(String queue) {
    return probe(QueueName.of(queue)).retried();
  }

  /**
   * Waits until no queue with a listener holds a message; 10 seconds at most.
   *
   * @throws AssertionError if a queue still holds one
   */
  public void awaitIdle() throws InterruptedException {
    awaitIdle(PATIENCE);
  }

  /** Waits as {@link #awaitIdle()} does, with another time limit. */
  public void awaitIdle(Duration atMost) throws InterruptedException {
    if (!(provider.getObject() instanceof InspectableQueues queues)) {
      throw new IllegalStateException("The provider of this test tells no numbers of its queues");
    }
    for (var probe : probes.entrySet()) {
      probe
          .getValue()
          .await(
              atMost,
              "queue " + probe.getKey() + " to be empty",
              () -> queues.stats(probe.getKey()).depth() == 0);
    }
  }

  private ProcessorProbe probe(QueueName queue) {
    return probes.computeIfAbsent(queue, name -> new ProcessorProbe());
  }
}
