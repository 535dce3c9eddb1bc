package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.github.Bot;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.time.TimeSource;
import dev.sessionkeeper.tracing.TraceMessages;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** The bots that are served by push. Each has its own threads and limits. */
final class PushBots implements AutoCloseable {
  private final QueueProvider queues;
  private final Database database;
  private final MeterRegistry registry;
  private final TraceMessages traces;
  private final TimeSource time;
  private final Map<String, PushBot> running = new HashMap<>();
  private boolean closed;

  PushBots(
      QueueProvider queues,
      Database database,
      MeterRegistry registry,
      TraceMessages traces,
      TimeSource time) {
    this.queues = queues;
    this.database = database;
    this.registry = registry;
    this.traces = traces;
    this.time = time;
  }

  /**
   * Serves exactly these bots from now on. Bots that were removed finish their work in the
   * background.
   */
  synchronized void serve(List<Bot> bots) {
    if (closed) {
      return;
    }
    var wanted =
        bots.stream()
            .filter(bot -> bot.deliver().isPresent())
            .collect(Collectors.toMap(Bot::name, bot -> bot));
    for (var name : List.copyOf(running.keySet())) {
      if (!wanted.containsKey(name)) {
        retire(name);
      }
    }
    wanted.values().forEach(this::serve);
  }

  private void serve(Bot bot) {
    var target = bot.deliver().orElseThrow();
    var before = running.get(bot.name());
    if (before != null && before.canBecome(bot)) {
      before.change(bot, target);
      return;
    }
    if (before != null) {
      retire(bot.name());
    }
    var meters = new BotMeters(bot, registry);
    var outages = new Outages(time, Optional.of(new OutageTable(database, bot.queue(), time)));
    running.put(bot.name(), PushBot.start(bot, target, queues, meters, traces, outages, time));
  }

  private void retire(String name) {
    var bot = running.remove(name);
    if (bot != null) {
      bot.hideGauges();
      Thread.ofVirtual().name("retire-" + name).start(bot::close);
    }
  }

  @Override
  public void close() {
    var all = new ArrayList<PushBot>();
    synchronized (this) {
      closed = true;
      all.addAll(running.values());
      running.clear();
    }
    // Starts all at once, so that one bot that waits for its endpoint does not delay the others.
    var threads = all.stream().map(bot -> Thread.ofVirtual().start(bot::close)).toList();
    boolean interrupted = false;
    for (var thread : threads) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
        break;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
