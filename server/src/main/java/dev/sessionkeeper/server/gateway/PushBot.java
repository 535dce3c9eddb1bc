package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.github.Bot;
import dev.sessionkeeper.github.PushTarget;
import dev.sessionkeeper.processor.SessionHooks;
import dev.sessionkeeper.processor.SessionProcessor;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.time.TimeSource;
import dev.sessionkeeper.tracing.TraceMessages;
import dev.sessionkeeper.webhook.WebhookSender;
import java.time.Duration;
import java.util.Map;
import java.util.Random;

/** A bot that is being served by push. */
final class PushBot implements AutoCloseable {
  private static final Duration CIRCUIT_OPEN = Duration.ofSeconds(15);
  private static final Duration DRAIN_MARGIN = Duration.ofSeconds(2);

  private final BotMeters meters;
  private final PushMessages handler;
  private final SessionProcessor processor;
  private volatile Bot bot;

  private PushBot(Bot bot, BotMeters meters, PushMessages handler, SessionProcessor processor) {
    this.bot = bot;
    this.meters = meters;
    this.handler = handler;
    this.processor = processor;
  }

  static PushBot start(
      Bot bot,
      PushTarget target,
      QueueProvider queues,
      BotMeters meters,
      TraceMessages traces,
      Outages outages,
      TimeSource time) {
    var limits = bot.limits();
    var breaker =
        new Breaker(bot.name(), CIRCUIT_OPEN, limits.maxDuration().dividedBy(2), meters, time);
    var outage = new SettleOutage(bot, target.retry(), outages, new Random());
    var handler =
        new PushMessages(target, WebhookSender.create(time), breaker, outage, meters, time);
    var traced =
        traces.processing(
            bot.queue(),
            Map.of("bot.name", bot.name(), "ordering.scope", bot.ordering().scope().name()));
    var processor =
        SessionProcessor.builder(queues, bot.queue(), traced.handler(handler))
            .hooks(traced.hooks(SessionHooks.NONE))
            .maxConcurrentSessions(limits.maxConcurrentSessions())
            .sessionIdleTimeout(limits.idleTimeout())
            .sessionMaxDuration(limits.maxDuration())
            // An open message may wait for an endpoint that is down.
            .maxAutoRenew(limits.maxDuration())
            .retry(target.retry().policy(bot.queueSettings().maxDeliveryCount()))
            .drainTimeout(target.timeout().plus(DRAIN_MARGIN))
            .listener(meters)
            .time(time)
            .build()
            .start();
    return new PushBot(bot, meters, handler, processor);
  }

  /** Returns whether {@link #change} can apply the new settings. */
  boolean canBecome(Bot other) {
    return other.queue().equals(bot.queue())
        && other.queueSettings().equals(bot.queueSettings())
        && other.deliver().map(PushTarget::retry).equals(bot.deliver().map(PushTarget::retry))
        && other.ordering().equals(bot.ordering())
        && other.limits().idleTimeout().equals(bot.limits().idleTimeout())
        && other.limits().maxDuration().equals(bot.limits().maxDuration());
  }

  /** Applies another target or another number of sessions, without releasing any session. */
  void change(Bot other, PushTarget target) {
    bot = other;
    handler.redirect(target);
    processor.changeConcurrency(other.limits().maxConcurrentSessions());
  }

  /** Removes its gauges, so that a successor of the same name can register them. */
  void hideGauges() {
    meters.close();
  }

  /** Waits for requests in progress. */
  @Override
  public void close() {
    processor.close();
    meters.close();
  }
}
