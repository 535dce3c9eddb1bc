package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.github.Bot;
import dev.sessionkeeper.processor.CloseReason;
import dev.sessionkeeper.server.feature.HoldLimits;
import dev.sessionkeeper.spi.HeldSession.Settled;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.time.DurationText;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Enforces the limits of bots: how many sessions are held at once, over all servers, and for how
 * long. Queues without a bot and unordered queues have no limits here.
 *
 * <p>Each held session has a row that expires with its lease, so the death of a server or consumer
 * frees its place. Safe for use by many threads.
 */
final class LimitHolds implements HoldLimits, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(LimitHolds.class);
  private static final String MAX_DURATION = "session_max_duration";
  private static final String IDLE_TIMEOUT = "session_idle_timeout";
  private static final Duration LOOK_AGAIN = Duration.ofMillis(250);
  private static final Duration REAP = Duration.ofSeconds(15);

  private final Database database;
  private final Supplier<List<Bot>> bots;
  private final GatewayMeters meters;
  private final TimeSource time;
  private final Map<QueueName, Long> fullAt = new ConcurrentHashMap<>();
  private volatile boolean closed;

  LimitHolds(Database database, Supplier<List<Bot>> bots, GatewayMeters meters, TimeSource time) {
    this.database = database;
    this.bots = bots;
    this.meters = meters;
    this.time = time;
  }

  /** Deletes expired holds regularly until this is closed. */
  void start() {
    time.schedule(
        REAP,
        () -> {
          if (!closed) {
            Thread.ofVirtual().name("reap-holds").start(this::reapAndGoOn);
          }
        });
  }

  private void reapAndGoOn() {
    try {
      reap();
    } catch (KeeperException e) {
      log.debug("Expired holds could not be deleted; trying again later: {}", e.getMessage());
    }
    start();
  }

  void reap() {
    database
        .inTransaction(HoldTable::reap)
        .forEach(ended -> meters.held(ended, CloseReason.LOCK_LOST));
  }

  @Override
  public boolean awaitRoom(QueueName queue, Duration patience) throws InterruptedException {
    var bot = orderedBotOf(queue);
    if (bot.isEmpty()) {
      return true;
    }
    long started = time.nanoTime();
    while (!hasRoom(bot.get())) {
      var left = patience.minus(time.since(started));
      if (!left.isPositive()) {
        return false;
      }
      Pauses.pause(time, left.compareTo(LOOK_AGAIN) < 0 ? left : LOOK_AGAIN);
    }
    return true;
  }

  /**
   * Returns whether a place is free. If a query found none, all callers within a moment get that
   * answer.
   */
  private boolean hasRoom(Bot bot) {
    var full = fullAt.get(bot.queue());
    if (full != null && time.since(full).compareTo(LOOK_AGAIN) < 0) {
      return false;
    }
    if (count(bot.queue()) < bot.limits().maxConcurrentSessions()) {
      fullAt.remove(bot.queue());
      return true;
    }
    fullAt.put(bot.queue(), time.nanoTime());
    return false;
  }

  /** Returns whether the last query, a moment ago, found no free place. */
  boolean isFull(QueueName queue) {
    var full = fullAt.get(queue);
    return full != null && time.since(full).compareTo(LOOK_AGAIN.multipliedBy(2)) < 0;
  }

  /** Returns how many sessions of the queue are held, over all servers. */
  int count(QueueName queue) {
    return database.withConnection(connection -> HoldTable.count(connection, queue));
  }

  @Override
  public boolean begin(Hold hold) {
    var bot = orderedBotOf(hold.queue());
    if (bot.isEmpty()) {
      return true;
    }
    int most = bot.get().limits().maxConcurrentSessions();
    boolean taken =
        database.inTransaction(
            connection -> HoldTable.take(connection, hold, lockOf(bot.get()), most));
    if (!taken) {
      fullAt.put(hold.queue(), time.nanoTime());
    }
    return taken;
  }

  @Override
  public Optional<Reached> reached(Hold hold) {
    return orderedBotOf(hold.queue())
        .flatMap(
            bot ->
                database
                    .withConnection(connection -> HoldTable.look(connection, hold))
                    .flatMap(look -> reached(bot, look)));
  }

  private static Optional<Reached> reached(Bot bot, HoldTable.Look look) {
    var limits = bot.limits();
    boolean isIdle = look.inHand() == 0;
    if (look.held().compareTo(limits.maxDuration()) >= 0) {
      return Optional.of(
          new Reached(
              MAX_DURATION,
              "The session has been held for "
                  + DurationText.readable(limits.maxDuration())
                  + ", its session_max_duration. Settle its open deliveries, then take a new lease",
              isIdle));
    }
    return isIdle && look.idle().compareTo(limits.idleTimeout()) >= 0
        ? Optional.of(
            new Reached(
                IDLE_TIMEOUT,
                "No message of the session was handled for "
                    + DurationText.readable(limits.idleTimeout())
                    + ", its session_idle_timeout. The session was released; take a new lease",
                true))
        : Optional.empty();
  }

  @Override
  public void renewed(Hold hold) {
    orderedBotOf(hold.queue())
        .ifPresent(
            bot ->
                note(() -> database.doInTransaction(c -> HoldTable.renew(c, hold, lockOf(bot)))));
  }

  @Override
  public void received(Hold hold, List<Delivery> deliveries) {
    if (deliveries.isEmpty() || orderedBotOf(hold.queue()).isEmpty()) {
      return;
    }
    var entity =
        Optional.ofNullable(deliveries.getFirst().message().properties().get("entity_type"));
    work(hold, new HoldTable.Work(0, false, deliveries.size(), entity));
  }

  @Override
  public void settled(Hold hold, List<Settled> settlements) {
    if (settlements.isEmpty() || orderedBotOf(hold.queue()).isEmpty()) {
      return;
    }
    int count = settlements.size();
    boolean isVoid = isVoidBehind(settlements.getLast().settlement());
    work(hold, new HoldTable.Work(count, isVoid, -count, Optional.empty()));
  }

  private static boolean isVoidBehind(Settlement settlement) {
    return switch (settlement) {
      case Settlement.Retry retry -> true;
      case Settlement.Park park -> true;
      case Settlement.Complete complete -> false;
      case Settlement.DeadLetter letter -> false;
    };
  }

  private void work(Hold hold, HoldTable.Work work) {
    note(() -> database.doInTransaction(connection -> HoldTable.work(connection, hold, work)));
  }

  @Override
  public void ended(Hold hold, Optional<Reached> reached) {
    if (orderedBotOf(hold.queue()).isPresent()) {
      var reason =
          reached
              .map(
                  limit ->
                      limit.limit().equals(MAX_DURATION)
                          ? CloseReason.MAX_DURATION
                          : CloseReason.IDLE)
              .orElse(CloseReason.RELEASED);
      note(() -> free(hold).ifPresent(ended -> meters.held(ended, reason)));
    }
  }

  /** Frees the place of a hold; the caller records its numbers. */
  Optional<HoldTable.Ended> free(Hold hold) {
    fullAt.remove(hold.queue());
    return database.inTransaction(connection -> HoldTable.end(connection, hold));
  }

  /**
   * Records a step of a hold that has already taken effect; a failure to record it must not undo
   * it.
   */
  private static void note(Runnable write) {
    try {
      write.run();
    } catch (KeeperException e) {
      log.warn(
          "A step of a held session was not recorded; its place is freed when its lease expires",
          e);
    }
  }

  @Override
  public Optional<String> botOf(QueueName queue) {
    return bots.get().stream().filter(bot -> bot.queue().equals(queue)).map(Bot::name).findFirst();
  }

  @Override
  public Map<SessionId, Instant> heldSince(QueueName queue) {
    return orderedBotOf(queue).isEmpty()
        ? Map.of()
        : database.withConnection(connection -> HoldTable.heldSince(connection, queue));
  }

  private Optional<Bot> orderedBotOf(QueueName queue) {
    for (var bot : bots.get()) {
      if (bot.queue().equals(queue)) {
        return Optional.of(bot).filter(one -> one.ordering().mode() == QueueMode.ORDERED);
      }
    }
    return Optional.empty();
  }

  private static Duration lockOf(Bot bot) {
    return bot.queueSettings().lockDuration();
  }

  @Override
  public void close() {
    closed = true;
  }
}
