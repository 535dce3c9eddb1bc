package dev.sessionkeeper.processor;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;

/** Collects the options of a processor and checks them against its queue and provider. */
final class ProcessorBuilder implements SessionProcessor.Builder {
  private final QueueProvider provider;
  private final QueueName queue;
  private final MessageHandler handler;
  private final Optional<CallBatchHandler> batches;
  private final List<Consumer<? super ProcessorEvent>> listeners = new ArrayList<>();
  private final List<FailureRule> rules = new ArrayList<>();
  private ProcessorOptions options = ProcessorOptions.ofDefaults();
  private Optional<FailurePolicy> failurePolicy = Optional.empty();
  private SessionHooks hooks = SessionHooks.NONE;
  private Owner owner = Owner.unique("processor");
  private TimeSource time = TimeSource.system();
  private RandomGenerator random = new java.util.Random();
  private ThreadFactory threads = Thread.ofVirtual().name("keeper-slot-", 0).factory();
  private Optional<ThreadFactory> background = Optional.empty();

  ProcessorBuilder(QueueProvider provider, QueueName queue, MessageHandler handler) {
    this(provider, queue, handler, Optional.empty());
  }

  private ProcessorBuilder(
      QueueProvider provider,
      QueueName queue,
      MessageHandler handler,
      Optional<CallBatchHandler> batches) {
    this.provider = provider;
    this.queue = queue;
    this.handler = handler;
    this.batches = batches;
  }

  static ProcessorBuilder ofBatches(
      QueueProvider provider, QueueName queue, CallBatchHandler batches) {
    return new ProcessorBuilder(provider, queue, batches.forOne(), Optional.of(batches));
  }

  @Override
  public SessionProcessor.Builder options(ProcessorOptions all) {
    options = all;
    return this;
  }

  @Override
  public SessionProcessor.Builder maxConcurrentSessions(int count) {
    return with(o -> o.withMaxConcurrentSessions(count));
  }

  @Override
  public SessionProcessor.Builder sessionIdleTimeout(Duration timeout) {
    return with(o -> o.withSessionIdleTimeout(timeout));
  }

  @Override
  public SessionProcessor.Builder sessionMaxDuration(Duration duration) {
    return with(o -> o.withSessionMaxDuration(duration));
  }

  @Override
  public SessionProcessor.Builder maxMessagesPerHold(int count) {
    return with(o -> o.withMaxMessagesPerHold(count));
  }

  @Override
  public SessionProcessor.Builder maxAutoRenew(Duration duration) {
    return with(o -> o.withMaxAutoRenew(duration));
  }

  @Override
  public SessionProcessor.Builder prefetch(int count) {
    return with(o -> o.withPrefetch(count));
  }

  @Override
  public SessionProcessor.Builder retry(RetryPolicy policy) {
    return with(o -> o.withRetry(policy));
  }

  @Override
  public SessionProcessor.Builder poisonPolicy(PoisonPolicy policy) {
    return with(o -> o.withPoisonPolicy(policy));
  }

  @Override
  public SessionProcessor.Builder onFailure(FailurePolicy policy) {
    failurePolicy = Optional.of(policy);
    return this;
  }

  @Override
  public SessionProcessor.Builder rule(FailureRule rule) {
    rules.add(rule);
    return this;
  }

  @Override
  public SessionProcessor.Builder drainTimeout(Duration timeout) {
    return with(o -> o.withDrainTimeout(timeout));
  }

  @Override
  public SessionProcessor.Builder hooks(SessionHooks wished) {
    hooks = wished;
    return this;
  }

  @Override
  public SessionProcessor.Builder owner(Owner wished) {
    owner = wished;
    return this;
  }

  @Override
  public SessionProcessor.Builder listener(Consumer<? super ProcessorEvent> listener) {
    listeners.add(listener);
    return this;
  }

  @Override
  public SessionProcessor.Builder threads(ThreadFactory factory) {
    threads = factory;
    return this;
  }

  @Override
  public SessionProcessor.Builder backgroundThreads(ThreadFactory factory) {
    background = Optional.of(factory);
    return this;
  }

  @Override
  public SessionProcessor.Builder time(TimeSource wished) {
    time = wished;
    return this;
  }

  @Override
  public SessionProcessor.Builder random(RandomGenerator wished) {
    random = wished;
    return this;
  }

  @Override
  public SessionProcessor build() {
    var settings =
        provider.settings(queue).orElseThrow(() -> new KeeperException.UnknownQueue(queue));
    if (batches.isPresent() && settings.mode() == QueueMode.UNORDERED) {
      throw new KeeperException.Misconfigured(
          "Queue " + queue + " is UNORDERED; a batch has messages of one session");
    }
    var effective = effective(settings);
    boolean parks = settings.mode() == QueueMode.ORDERED && provider.capabilities().parksSessions();
    var poison = effective.poisonPolicy().orElse(settings.poisonPolicy());
    if (poison == PoisonPolicy.PARK_SESSION && !parks) {
      throw new KeeperException.Misconfigured(
          "The poison policy of queue "
              + queue
              + " is PARK_SESSION, but "
              + (settings.mode() == QueueMode.UNORDERED
                  ? "an unordered queue has no sessions to park"
                  : "the provider "
                      + provider.capabilities().provider()
                      + " cannot park sessions"));
    }
    var jitter = new Jitter(random);
    var setup =
        new Setup(
            provider,
            queue,
            settings,
            effective,
            handler,
            batches,
            hooks,
            owner,
            time,
            jitter,
            threads,
            background,
            new Report(queue, listeners, hooks));
    return new LeasedSessionProcessor(
        setup,
        (shared, stop) -> {
          var lastResort = new RetryThenPoison(effective, settings, jitter, stop);
          // The provider dead-letters an unordered message whose handler asks to park it.
          boolean takesPark = parks || settings.mode() == QueueMode.UNORDERED;
          var policy = new RulesThenPolicy(List.copyOf(rules), failurePolicy.orElse(lastResort));
          return new CallHandler(shared, policy, lastResort, takesPark);
        });
  }

  /**
   * Unless the application set a retry policy, the queue's settings give the number of attempts.
   */
  private ProcessorOptions effective(QueueSettings settings) {
    var poison = options.poisonPolicy().orElse(settings.poisonPolicy());
    var retry =
        options.retry().equals(RetryPolicy.ofDefaults())
            ? options.retry().withMaxAttempts(settings.maxDeliveryCount())
            : options.retry();
    int prefetch = Math.max(options.prefetch(), batches.map(CallBatchHandler::most).orElse(1));
    return options.withRetry(retry).withPoisonPolicy(poison).withPrefetch(prefetch);
  }

  private SessionProcessor.Builder with(UnaryOperator<ProcessorOptions> change) {
    options = change.apply(options);
    return this;
  }
}
