package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.github.Bot;
import dev.sessionkeeper.server.config.ConfigError;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Applies the configuration of bots: declares their queues, routes events to them, then starts
 * pushing. If the store is away, this waits; until then the former bots are served.
 */
final class ServeBots implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ServeBots.class);
  private static final RetryPolicy RETRY =
      RetryPolicy.endless(Duration.ofSeconds(1), Duration.ofSeconds(10));

  private final QueueProvider queues;
  private final PushBots pushed;
  private final GatewayMeters meters;
  private final TimeSource time;
  private volatile Routing current;
  private volatile @Nullable Routing awaited;
  private int failures;
  private boolean closed;

  ServeBots(QueueProvider queues, PushBots pushed, GatewayMeters meters, TimeSource time) {
    this.queues = queues;
    this.pushed = pushed;
    this.meters = meters;
    this.time = time;
    this.current = new Routing(Optional.empty(), List.of());
  }

  /** Returns the current routing rules. */
  Routing current() {
    return current;
  }

  /** Returns why the newest configuration is not applied yet; empty if it is. */
  Optional<String> notReady() {
    return awaited == null
        ? Optional.empty()
        : Optional.of("The bots of the configuration wait until their queues answer");
  }

  /** Returns why these bots cannot run on this server, although each of them is valid. */
  List<ConfigError> objectionsTo(List<Bot> bots) {
    var errors = new ArrayList<ConfigError>();
    for (var bot : bots) {
      objectionTo(bot).ifPresent(reason -> errors.add(new ConfigError("bots", bot.name(), reason)));
    }
    return errors;
  }

  private Optional<String> objectionTo(Bot bot) {
    var mode = bot.queueSettings().mode();
    var existing = queues.settings(bot.queue());
    if (existing.isPresent() && existing.get().mode() != mode) {
      return Optional.of(
          "needs an "
              + mode
              + " queue, but "
              + bot.queue()
              + " exists and is "
              + existing.get().mode()
              + "; choose another one with the key queue");
    }
    boolean parks = mode == QueueMode.ORDERED && queues.capabilities().parksSessions();
    return bot.queueSettings().poisonPolicy() == PoisonPolicy.PARK_SESSION && !parks
        ? Optional.of("has on_poison park_session, but its queue cannot park sessions")
        : Optional.empty();
  }

  /**
   * Applies the routing now.
   *
   * @throws KeeperException if the store does not answer or refuses a queue
   */
  synchronized void start(Routing routing) {
    apply(routing);
  }

  /**
   * Routes events to the bots now, and declares and pushes as soon as the queues answer. For queues
   * on another technology only: until then the messages wait in the outbox.
   */
  synchronized void startLater(Routing routing) {
    current = routing;
    change(routing);
  }

  /** Applies the routing as soon as the store allows. */
  synchronized void change(Routing routing) {
    awaited = routing;
    failures = 0;
    tryAwaited();
  }

  private synchronized void tryAwaited() {
    var routing = awaited;
    if (closed || routing == null) {
      return;
    }
    try {
      apply(routing);
      awaited = null;
    } catch (KeeperException e) {
      failures++;
      log.warn("The bots are not served yet; trying again: {}", e.getMessage());
      time.schedule(
          RETRY.delayAfter(failures, RandomGenerator.getDefault()),
          () -> Thread.ofVirtual().name("serve-bots").start(this::tryAwaited));
    }
  }

  private void apply(Routing routing) {
    routing.bots().forEach(bot -> queues.declare(bot.queue(), bot.queueSettings()));
    current = routing;
    meters.bots(routing.bots());
    pushed.serve(routing.bots());
  }

  @Override
  public void close() {
    synchronized (this) {
      closed = true;
    }
    pushed.close();
  }
}
