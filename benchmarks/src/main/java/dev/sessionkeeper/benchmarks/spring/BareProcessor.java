package dev.sessionkeeper.benchmarks.spring;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.processor.MessageHandler;
import dev.sessionkeeper.processor.SessionProcessor;
import dev.sessionkeeper.spi.QueueProvider;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;

/** A processor with a handler, and no Spring. */
final class BareProcessor implements Contender {
  private final String name;
  private final QueueProvider provider;
  private final QueueName queue;
  private final LongAdder handled = new LongAdder();
  private final SessionProcessor processor;

  BareProcessor(
      String name,
      QueueProvider provider,
      QueueName queue,
      Function<LongAdder, MessageHandler> handler) {
    this.name = name;
    this.provider = provider;
    this.queue = queue;
    provider.declare(queue, QueueSettings.ordered());
    this.processor =
        SessionProcessor.builder(provider, queue, handler.apply(handled))
            .maxConcurrentSessions(SESSIONS_AT_ONCE)
            .build()
            .start();
    pause();
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
