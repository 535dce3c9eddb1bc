package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.github.Bot;
import dev.sessionkeeper.github.RetrySchedule;
import dev.sessionkeeper.time.DurationText;
import java.time.Duration;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * Postpones the messages of one bot while its endpoint is down, and gives a message up when the
 * outage has lasted too long.
 */
final class SettleOutage {
  private final RetrySchedule schedule;
  private final RetryPolicy delays;
  private final QueueSettings settings;
  private final Outages outages;
  private final RandomGenerator random;

  SettleOutage(Bot bot, RetrySchedule schedule, Outages outages, RandomGenerator random) {
    this.schedule = schedule;
    this.delays = schedule.policy(Integer.MAX_VALUE);
    this.settings = bot.queueSettings();
    this.outages = outages;
    this.random = random;
  }

  /**
   * Settles a delivery that met the outage.
   *
   * @param asked how long the endpoint asks to wait
   */
  Settlement settle(Delivery delivery, String error, Optional<Duration> asked) {
    var met = outages.again(delivery.id());
    var delay = asked.orElseGet(() -> delays.delayAfter(met.times(), random));
    if (met.lasted().compareTo(schedule.limit()) < 0) {
      return Settlement.postpone(delay, error);
    }
    var reason = "The endpoint was out of order for " + DurationText.readable(schedule.limit());
    var decided =
        settings
            .poisonPolicy()
            .settlement(settings.mode(), reason, error, Settlement.postpone(delay, error));
    if (!(decided instanceof Settlement.Retry)) {
      outages.over(delivery.id());
    }
    return decided;
  }

  /** Returns how many posts of the message used no attempt. */
  int postsWithoutAttempt(Delivery delivery) {
    return outages.postsOf(delivery.id());
  }

  /** Records that the endpoint refused the message, which will be delivered again. */
  void answered(Delivery delivery) {
    outages.answered(delivery.id());
  }

  /** Records that the message was delivered or given up. */
  void over(Delivery delivery) {
    outages.over(delivery.id());
  }
}
