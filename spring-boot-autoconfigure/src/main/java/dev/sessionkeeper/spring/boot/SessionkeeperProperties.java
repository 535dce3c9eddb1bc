package dev.sessionkeeper.spring.boot;

import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.RetryPolicy;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings under {@code sessionkeeper}.
 *
 * @param provider Where the queues are.
 * @param queues Queues that are declared when the application starts, by name.
 * @param listener What all listeners share.
 * @param sqs AWS SQS.
 * @param servicebus Azure Service Bus.
 * @param server A Sessionkeeper server.
 */
@ConfigurationProperties("sessionkeeper")
public record SessionkeeperProperties(
    @DefaultValue("postgres") Provider provider,
    @DefaultValue Map<String, Queue> queues,
    @DefaultValue Listener listener,
    @DefaultValue Sqs sqs,
    @DefaultValue ServiceBus servicebus,
    @DefaultValue Server server) {

  /** A queue technology. */
  public enum Provider {
    /** In this process; nothing survives it. */
    MEMORY,
    /** In the application's DataSource. */
    POSTGRES,
    /** AWS SQS FIFO. */
    SQS,
    /** Azure Service Bus. */
    SERVICEBUS,
    /** A Sessionkeeper server, over HTTP. */
    SERVER
  }

  /**
   * One queue.
   *
   * @param mode Whether the queue has sessions.
   * @param maxDeliveryCount Attempts before the poison policy decides.
   * @param lockDuration How long a lease lasts without renewal.
   * @param messageTtl How long a message may wait before it becomes a dead letter.
   * @param duplicateWindow How long the id of a message is remembered.
   * @param poisonPolicy What follows the last attempt.
   */
  public record Queue(
      @DefaultValue("ordered") QueueMode mode,
      @Nullable Integer maxDeliveryCount,
      @Nullable Duration lockDuration,
      @Nullable Duration messageTtl,
      @Nullable Duration duplicateWindow,
      @Nullable PoisonPolicy poisonPolicy) {

    QueueSettings settings() {
      var settings =
          mode == QueueMode.ORDERED ? QueueSettings.ordered() : QueueSettings.unordered();
      if (maxDeliveryCount != null) {
        settings = settings.withMaxDeliveryCount(maxDeliveryCount);
      }
      if (lockDuration != null) {
        settings = settings.withLockDuration(lockDuration);
      }
      if (messageTtl != null) {
        settings = settings.withMessageTtl(messageTtl);
      }
      if (duplicateWindow != null) {
        settings = settings.withDuplicateWindow(duplicateWindow);
      }
      return poisonPolicy == null ? settings : settings.withPoisonPolicy(poisonPolicy);
    }
  }

  /**
   * The settings of all listeners.
   *
   * @param concurrency Sessions that one listener handles at once.
   * @param drainTimeout How long a stop waits for handlers. Must be shorter than
   *     spring.lifecycle.timeout-per-shutdown-phase.
   * @param autoStartup Whether listeners start with the application.
   * @param deadLetterOn Exception types that make a message a dead letter at its first failure.
   * @param sessionIdleTimeout When a held session without work is released.
   * @param prefetch Messages taken from a session at once.
   * @param retry How long a failed message waits. The queue says how many attempts there are.
   */
  public record Listener(
      @DefaultValue("8") int concurrency,
      @DefaultValue("25s") Duration drainTimeout,
      @DefaultValue("true") boolean autoStartup,
      @DefaultValue List<Class<? extends Throwable>> deadLetterOn,
      @DefaultValue("2m") Duration sessionIdleTimeout,
      @DefaultValue("32") int prefetch,
      @DefaultValue Retry retry) {}

  /**
   * How long a failed message waits before its next attempt. The defaults are those of RetryPolicy.
   *
   * @param delay The delay after the first failure.
   * @param multiplier By which each further delay grows.
   * @param maxDelay The longest delay before jitter.
   * @param jitter The part by which a delay may be shorter or longer, 0 to 1.
   */
  public record Retry(
      @DefaultValue("1s") Duration delay,
      @DefaultValue("2") double multiplier,
      @DefaultValue("16s") Duration maxDelay,
      @DefaultValue("0.25") double jitter) {

    RetryPolicy policy() {
      var attempts = RetryPolicy.ofDefaults().maxAttempts();
      return new RetryPolicy(attempts, delay, multiplier, maxDelay, jitter);
    }
  }

  /**
   * AWS SQS. The client is the application's SqsClient bean, else one with AWS's default
   * credentials and region.
   *
   * @param prefix What all queue names in SQS begin with.
   */
  public record Sqs(@DefaultValue("") String prefix) {}

  /**
   * Azure Service Bus, by a connection string or by a namespace and a TokenCredential bean.
   *
   * @param connectionString The connection string, with a secret in it.
   * @param namespace The host of the namespace, such as shop.servicebus.windows.net.
   * @param manage Whether queues are created and changed in the namespace. Without it the queues
   *     under sessionkeeper.queues must exist, and the rights to listen and send are enough.
   * @param subscriptions Queues that are subscriptions of topics, by their name under
   *     sessionkeeper.queues. Sends go to the topic. Turns manage off.
   */
  public record ServiceBus(
      @Nullable String connectionString,
      @Nullable String namespace,
      @DefaultValue("true") boolean manage,
      @DefaultValue Map<String, Subscription> subscriptions) {}

  /**
   * A subscription of a Service Bus topic.
   *
   * @param topic The topic that messages are sent to.
   * @param subscription The subscription that messages are received from.
   */
  public record Subscription(String topic, String subscription) {}

  /**
   * A Sessionkeeper server.
   *
   * @param urls Addresses of servers that share one store.
   * @param apiKey The credential.
   */
  public record Server(
      @DefaultValue("http://127.0.0.1:8080") List<URI> urls, @Nullable String apiKey)
      implements SessionkeeperConnectionDetails {}
}
