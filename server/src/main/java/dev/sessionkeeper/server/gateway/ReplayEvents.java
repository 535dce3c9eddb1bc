package dev.sessionkeeper.server.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.github.Bot;
import dev.sessionkeeper.github.BuildMessage;
import dev.sessionkeeper.github.GitHubEvent;
import dev.sessionkeeper.server.feature.EventReplays;
import dev.sessionkeeper.server.gateway.ReplayTable.Replay;
import dev.sessionkeeper.server.http.QueueFilter;
import dev.sessionkeeper.server.http.Reach;
import dev.sessionkeeper.server.json.InvalidInput;
import dev.sessionkeeper.store.Actor;
import dev.sessionkeeper.store.AuditLog;
import dev.sessionkeeper.store.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Sends stored events again to the bots they were routed to, in their original order.
 *
 * <p>Each step is a transaction that also records the progress: after a crash the same request
 * continues, and after it has finished the same request does nothing.
 */
final class ReplayEvents implements EventReplays {
  private static final int STEP = 100;
  private static final long STEP_BYTES = 8L << 20;

  private final Database database;
  private final Outbox outbox;
  private final ReplayDeadLetters letters;
  private final Supplier<List<Bot>> bots;

  ReplayEvents(
      Database database, Outbox outbox, ReplayDeadLetters letters, Supplier<List<Bot>> bots) {
    this.database = database;
    this.outbox = outbox;
    this.letters = letters;
    this.bots = bots;
  }

  EventReplayRequest.Answer replay(EventReplayRequest wish, Actor actor, Reach reach) {
    if (wish.deadLetters().orElse(false)) {
      return replayLetters(wish, actor, reach);
    }
    var targets = targets(wish, reach);
    if (wish.dryRun().orElse(false)) {
      return EventReplayRequest.Answer.wouldReplay(
          CountRoutes.count(database, conditions(wish, reach), names(targets)));
    }
    var begun = database.inTransaction(connection -> begin(connection, wish, actor));
    var replay = begun.replay();
    while (!replay.finished()) {
      var id = replay.id();
      var used = new HashSet<QueueName>();
      replay =
          database.inTransaction(
              connection -> step(connection, id, conditions(wish, reach), targets, used));
      outbox.committed(used);
    }
    return EventReplayRequest.Answer.replayed(replay, begun.repeated());
  }

  private record Begun(Replay replay, boolean repeated) {}

  private static Begun begin(Connection connection, EventReplayRequest wish, Actor actor)
      throws SQLException {
    var reason = wish.reason().orElse("");
    var selection = wish.selection();
    var key =
        wish.replayId()
            .map(UUID::toString)
            .orElseGet(() -> digest(actor.name() + "\n" + selection + "\n" + reason).toString());
    var id = wish.replayId().orElseGet(UUID::randomUUID);
    ReplayTable.lock(connection, key);
    var before = ReplayTable.recent(connection, key, id);
    if (before.isPresent()) {
      return new Begun(before.get(), true);
    }
    var replay =
        ReplayTable.insert(
            connection, new ReplayTable.Added(id, key, actor.name(), reason, selection));
    AuditLog.write(
        connection, new AuditLog.Entry(actor, "events.replay", id.toString(), reason, selection));
    return new Begun(replay, false);
  }

  private Replay step(
      Connection connection, UUID id, Conditions conditions, List<Bot> targets, Set<QueueName> used)
      throws SQLException {
    var replay = ReplayTable.forUpdate(connection, id);
    if (replay.finished()) {
      return replay;
    }
    var sent = send(connection, id, conditions, targets, replay.nextSeq(), replay.lastSeq(), used);
    ReplayTable.advance(
        connection, id, sent.behind() + 1, sent.events(), sent.sent(), sent.isLast());
    return ReplayTable.forUpdate(connection, id);
  }

  /** An event and the bots that get it again. */
  private record Wanted(KeptEvents.Kept kept, List<Bot> bots) {}

  /** The result of a step; {@code examined} counts what it should send. */
  private record Sent(long behind, int events, int examined, int sent, boolean isLast) {}

  private Sent send(
      Connection connection,
      UUID id,
      Conditions conditions,
      List<Bot> targets,
      long from,
      long to,
      Set<QueueName> used)
      throws SQLException {
    var seqs = KeptEvents.seqs(connection, conditions, from, to, STEP, STEP_BYTES);
    var wanted = new ArrayList<Wanted>();
    var sessions = new LinkedHashSet<String>();
    int examined = 0;
    for (long seq : seqs) {
      var its = routedBots(connection, seq, targets);
      examined += its.size();
      var kept =
          its.isEmpty() ? Optional.<KeptEvents.Kept>empty() : KeptEvents.read(connection, seq);
      if (kept.isPresent()) {
        wanted.add(new Wanted(kept.get(), its));
        sessions.addAll(StoreDeliveries.sessionsToLock(kept.get().event(), its));
      }
    }
    EventTable.lock(connection, sessions, AcceptDelivery.ALONE);
    int messages = send(connection, id, wanted, used);
    return new Sent(
        seqs.isEmpty() ? to : seqs.getLast(), wanted.size(), examined, messages, seqs.isEmpty());
  }

  @Override
  public Set<QueueName> queues(Selection selection, QueueFilter visible) {
    return targets(selection.bot(), visible).stream().map(Bot::queue).collect(Collectors.toSet());
  }

  @Override
  public Counted count(Selection selection, Set<QueueName> queues, int samples) {
    var names = names(targets(selection, queues));
    var conditions = query(selection).conditions();
    long last = database.withConnection(ReplayTable::newestEvent);
    conditions.add("e.seq <= ?", last);
    return new Counted(
        CountRoutes.count(database, conditions, names),
        last,
        CountRoutes.samples(database, conditions, names, samples));
  }

  @Override
  public Step send(
      Connection connection,
      UUID run,
      Selection selection,
      Set<QueueName> queues,
      long behind,
      long lastEvent)
      throws SQLException {
    var conditions = query(selection).conditions();
    var targets = targets(selection, queues);
    var sent = send(connection, run, conditions, targets, behind + 1, lastEvent, new HashSet<>());
    return new Step(sent.behind(), sent.examined(), sent.sent(), sent.isLast());
  }

  @Override
  public void committed(Collection<QueueName> queues) {
    outbox.committed(queues);
  }

  private static EventQuery query(Selection selection) {
    return new EventQuery(
        selection.eventId(),
        selection.bot(),
        selection.repository(),
        selection.sessionId(),
        selection.type(),
        selection.from(),
        selection.to());
  }

  /** Returns today's bots of these queues; a bot may have left the configuration meanwhile. */
  private List<Bot> targets(Selection selection, Set<QueueName> queues) {
    return bots.get().stream()
        .filter(bot -> queues.contains(bot.queue()))
        .filter(bot -> selection.bot().map(bot.name()::equals).orElse(true))
        .toList();
  }

  private int send(Connection connection, UUID replay, List<Wanted> wanted, Set<QueueName> used)
      throws SQLException {
    var byQueue = new LinkedHashMap<QueueName, List<Message>>();
    var routes = new ArrayList<RoutedTable.Row>();
    for (var one : wanted) {
      for (var bot : one.bots()) {
        var message = message(one.kept(), bot, replay);
        byQueue.computeIfAbsent(bot.queue(), queue -> new ArrayList<>()).add(message);
        routes.add(
            new RoutedTable.Row(
                one.kept().seq(), RoutedMessage.of(bot, message, Optional.of(replay))));
      }
    }
    RoutedTable.insert(connection, routes);
    outbox.send(connection, byQueue, Map.of());
    used.addAll(byQueue.keySet());
    return routes.size();
  }

  private Message message(KeptEvents.Kept kept, Bot bot, UUID replay) {
    var build = new BuildMessage(kept.trace().traceId(), kept.receivedAt(), outbox.maxBodyBytes());
    var message = StoreDeliveries.traced(build.build(kept.event(), bot), kept.trace());
    return HookHeaders.asProperties(message, kept.headers(), kept.body())
        .withId(idOf(kept.event(), bot, replay))
        // Later messages of the session may have been handled already; the property lets handlers
        // recognise a replay.
        .withProperty("replayed", "true")
        .withProperty("replay_id", replay.toString())
        .withProperty("original_sequence", Long.toString(kept.seq()));
  }

  /** Returns a new message id, which is the same however often this replay is executed. */
  private static MessageId idOf(GitHubEvent event, Bot bot, UUID replay) {
    return MessageId.of(event.id() + ":" + digest(replay + "\n" + bot.name()));
  }

  private static List<Bot> routedBots(Connection connection, long seq, List<Bot> targets)
      throws SQLException {
    var names =
        RoutedTable.find(connection, seq).stream()
            .map(RoutedMessage::bot)
            .collect(Collectors.toSet());
    return targets.stream().filter(bot -> names.contains(bot.name())).toList();
  }

  private EventReplayRequest.Answer replayLetters(
      EventReplayRequest wish, Actor actor, Reach reach) {
    boolean dryRun = wish.dryRun().orElse(false);
    var names = names(targets(wish, reach));
    int count = 0;
    long from = 0;
    while (true) {
      long behind = from;
      var seqs =
          database.withConnection(
              connection ->
                  KeptEvents.seqs(
                      connection,
                      conditions(wish, reach),
                      behind,
                      Long.MAX_VALUE,
                      STEP,
                      Long.MAX_VALUE));
      if (seqs.isEmpty()) {
        break;
      }
      var routes = database.withConnection(connection -> routesOf(connection, seqs, names));
      count += dryRun ? letters.count(routes) : letters.replay(routes);
      from = seqs.getLast() + 1;
    }
    if (dryRun) {
      return EventReplayRequest.Answer.wouldReplay(count);
    }
    var done = count + " dead letters";
    database.doInTransaction(
        connection ->
            AuditLog.write(
                connection,
                new AuditLog.Entry(
                    actor, "events.revive", wish.selection(), wish.reason().orElse(""), done)));
    return EventReplayRequest.Answer.revived(count);
  }

  private static List<RoutedMessage> routesOf(
      Connection connection, List<Long> seqs, Set<String> names) throws SQLException {
    var routes = new ArrayList<RoutedMessage>();
    for (long seq : seqs) {
      RoutedTable.find(connection, seq).stream()
          .filter(route -> names.contains(route.bot()))
          .forEach(routes::add);
    }
    return routes;
  }

  private static Conditions conditions(EventReplayRequest wish, Reach reach) {
    var conditions = wish.query().conditions();
    EventQuery.narrow(conditions, reach.queues());
    return conditions;
  }

  /** Returns today's bots that the request selects and the caller may see. */
  private List<Bot> targets(EventReplayRequest wish, Reach reach) {
    return targets(wish.bot(), reach.queues());
  }

  private List<Bot> targets(Optional<String> asked, QueueFilter within) {
    var visible = bots.get().stream().filter(bot -> within.includes(bot.queue())).toList();
    if (asked.isEmpty()) {
      return visible;
    }
    var name = asked.get();
    return visible.stream()
        .filter(bot -> bot.name().equals(name))
        .findFirst()
        .map(List::of)
        .orElseThrow(() -> unknown(visible));
  }

  private static InvalidInput unknown(List<Bot> visible) {
    var names = visible.stream().map(Bot::name).collect(Collectors.joining(", "));
    return new InvalidInput(
        "bot",
        names.isEmpty()
            ? "is not known: the configuration has no bot that this credential may see"
            : "must be a bot of the configuration: " + names);
  }

  private static Set<String> names(List<Bot> bots) {
    return bots.stream().map(Bot::name).collect(Collectors.toSet());
  }

  private static UUID digest(String text) {
    return UUID.nameUUIDFromBytes(text.getBytes(UTF_8));
  }
}
