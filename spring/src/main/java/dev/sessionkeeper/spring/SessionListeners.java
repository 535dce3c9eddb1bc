package dev.sessionkeeper.spring;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.processor.ProcessorOptions;
import dev.sessionkeeper.processor.SessionProcessor;
import dev.sessionkeeper.processor.SessionProcessor.State;
import dev.sessionkeeper.spi.QueueProvider;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.springframework.context.SmartLifecycle;

/**
 * All listeners of an application. They start after all other beans, and stop before them.
 *
 * <p>All listeners drain at the same time, so a stop takes one drain timeout. They stop before the
 * web server.
 */
public final class SessionListeners implements SmartLifecycle {
  /** The phase of listeners: they start after the web server and stop before it. */
  public static final int PHASE = Integer.MAX_VALUE - 100;

  private final QueueProvider provider;
  private final ListenerSettings settings;
  private final ObserveListeners observe;
  private final Map<String, ListenerDefinition> definitions = new LinkedHashMap<>();
  private final Map<String, ListenerContainer> containers = new LinkedHashMap<>();
  private final KeepAlive keepAlive = new KeepAlive();
  private volatile boolean running;

  public SessionListeners(QueueProvider provider, ListenerSettings settings) {
    this.provider = provider;
    this.settings = settings;
    this.observe = new ObserveListeners(settings.observations());
  }

  synchronized void register(ListenerDefinition definition) {
    if (definitions.putIfAbsent(definition.id(), definition) != null) {
      throw new IllegalStateException("Two session listeners have the id " + definition.id());
    }
    if (definition.transactional() && settings.transactions().isEmpty()) {
      throw new KeeperException.Misconfigured(
          "Listener "
              + definition.id()
              + " is transactional; that needs queues in PostgreSQL on the application's"
              + " DataSource and a transaction manager for it");
    }
  }

  /** Returns the listeners, in the order in which they were found. */
  public synchronized List<RunningListener> all() {
    return List.copyOf(containers.values());
  }

  /** Returns the listener of this id. */
  public synchronized Optional<RunningListener> find(String id) {
    return Optional.ofNullable(containers.get(id));
  }

  @Override
  public synchronized void start() {
    for (var definition : definitions.values()) {
      var container =
          containers.computeIfAbsent(
              definition.id(), id -> new ListenerContainer(definition, () -> build(definition)));
      if (definition.autoStartup() && settings.autoStartup()) {
        container.start();
      }
    }
    running = true;
    if (containers.values().stream().anyMatch(each -> each.state() == State.RUNNING)) {
      keepAlive.start();
    }
  }

  @Override
  public void stop() {
    List<ListenerContainer> all;
    synchronized (this) {
      all = new ArrayList<>(containers.values());
    }
    var drains =
        all.stream()
            .map(each -> CompletableFuture.runAsync(each::stop, Thread::startVirtualThread));
    CompletableFuture.allOf(drains.toArray(CompletableFuture[]::new)).join();
    running = false;
    keepAlive.stop();
  }

  @Override
  public void stop(Runnable callback) {
    Thread.startVirtualThread(
        () -> {
          try {
            stop();
          } finally {
            callback.run();
          }
        });
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  @Override
  public int getPhase() {
    return PHASE;
  }

  private SessionProcessor build(ListenerDefinition listener) {
    var builder = builder(listener).options(options(listener.queue()));
    listener.concurrency().ifPresent(builder::maxConcurrentSessions);
    settings.rules().forEach(builder::rule);
    settings
        .customizers()
        .forEach(each -> each.customize(listener.id(), listener.queue(), builder));
    return builder.build();
  }

  /**
   * Returns the options of a listener: the delays of retries come from the properties, the number
   * of attempts from the queue.
   */
  private ProcessorOptions options(QueueName queue) {
    var options = settings.options();
    return provider
        .settings(queue)
        .map(each -> options.withRetry(options.retry().withMaxAttempts(each.maxDeliveryCount())))
        .orElse(options);
  }

  private SessionProcessor.Builder builder(ListenerDefinition listener) {
    var method =
        ListenerMethod.of(
            listener.bean(), listener.method(), listener.batch().isPresent(), settings.codecs());
    var queue = listener.queue();
    if (listener.batch().isPresent()) {
      var batchHandler = method.batchHandler();
      if (listener.transactional()) {
        batchHandler = transactions().transactionalBatches(queue, batchHandler);
      }
      return SessionProcessor.batches(
          provider,
          queue,
          listener.batch().getAsInt(),
          observe.batchHandler(listener.id(), queue, batchHandler));
    }
    var handler = method.handler();
    if (listener.transactional()) {
      handler = transactions().transactional(queue, handler);
    }
    return SessionProcessor.builder(
        provider, queue, observe.handler(listener.id(), queue, handler));
  }

  private ListenerTransactions transactions() {
    return settings.transactions().orElseThrow();
  }
}
