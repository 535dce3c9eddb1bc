package dev.sessionkeeper.benchmarks.spring;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.micrometer.ProcessorMeters;
import dev.sessionkeeper.processor.MessageHandler;
import dev.sessionkeeper.processor.SessionProcessor;
import dev.sessionkeeper.spi.QueueProvider;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;

/** A processor with a handler, and no Spring; observed or not. */
final class BareProcessor implements Contender {
  private final String name;
  private final QueueProvider provider;
  private final QueueName queue;
  private final LongAdder handled = new LongAdder();
  private final SessionProcessor processor;

  private BareProcessor(
      String name,
      QueueProvider provider,
      QueueName queue,
      Function<LongAdder, MessageHandler> handler,
      Optional<Observing> observing) {
    this.name = name;
    this.provider = provider;
    this.queue = queue;
    provider.declare(queue, QueueSettings.ordered());
    var plain = handler.apply(handled);
    var builder =
        SessionProcessor.builder(
                provider, queue, observing.map(by -> by.observed(queue, plain)).orElse(plain))
            .maxConcurrentSessions(SESSIONS_AT_ONCE);
    observing.ifPresent(by -> builder.listener(ProcessorMeters.of(by.meters(), queue, "bench")));
    this.processor = builder.build().start();
    pause();
  }

  static BareProcessor of(
      String name,
      QueueProvider provider,
      QueueName queue,
      Function<LongAdder, MessageHandler> handler) {
    return new BareProcessor(name, provider, queue, handler, Optional.empty());
  }

  /** Returns a processor with the meters and the observation that the starter adds. */
  static BareProcessor observed(
      String name,
      QueueProvider provider,
      QueueName queue,
      Function<LongAdder, MessageHandler> handler) {
    return new BareProcessor(name, provider, queue, handler, Optional.of(Observing.asActuator()));
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public QueueProvider provider() {
    return provider;
  }

  @Override
  public QueueName queue() {
    return queue;
  }

  @Override
  public long handled() {
    return handled.sum();
  }

  @Override
  public void resume() {
    processor.resume();
  }

  @Override
  public void pause() {
    processor.pause();
  }

  @Override
  public int activeSessions() {
    return processor.activeSessions();
  }

  @Override
  public void close() {
    processor.close();
    provider.close();
  }
}
