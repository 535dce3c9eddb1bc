package dev.sessionkeeper.client.provider;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Limits;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.client.KeeperClient;
import dev.sessionkeeper.client.provider.ServerCalls.About;
import dev.sessionkeeper.spi.AddressableSessions;
import dev.sessionkeeper.spi.Capabilities;
import dev.sessionkeeper.spi.DeadLetter;
import dev.sessionkeeper.spi.DeadLetterQueues;
import dev.sessionkeeper.spi.InspectableQueues;
import dev.sessionkeeper.spi.MessageSource;
import dev.sessionkeeper.spi.OperableSessions;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.spi.QueueStats;
import dev.sessionkeeper.spi.RemovableQueues;
import dev.sessionkeeper.spi.SessionStatus;
import dev.sessionkeeper.spi.SessionView;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import tools.jackson.databind.JsonNode;

/**
 * Queues of a Sessionkeeper server, over HTTP: the same handler and the same processor run against
 * a remote server.
 *
 * <p>Messages are as durable as the server's store. If that store cannot do something, such as park
 * a session of SQS, the server refuses the call. The caller closes the client. Safe for use by many
 * threads.
 */
public final class ServerQueueProvider
    implements QueueProvider,
        InspectableQueues,
        OperableSessions,
        DeadLetterQueues,
        RemovableQueues {
  private static final Capabilities CAPABILITIES =
      new Capabilities("server", Limits.DEFAULT, true, true, true, Map.of());

  private final ServerCalls calls;
  private final TimeSource time;
  private final Map<QueueName, QueueMode> modes = new ConcurrentHashMap<>();
  private final Map<QueueName, Rounds> ordered = new ConcurrentHashMap<>();
  private final Map<QueueName, ServerMessages> loose = new ConcurrentHashMap<>();
  private volatile boolean closed;

  private ServerQueueProvider(KeeperClient client, TimeSource time) {
    this.calls = new ServerCalls(client);
    this.time = time;
  }

  /** Returns the queues of the servers of this client. */
  public static ServerQueueProvider over(KeeperClient client) {
    return new ServerQueueProvider(client, TimeSource.system());
  }

  @Override
  public Capabilities capabilities() {
    return CAPABILITIES;
  }

  @Override
  public boolean declare(QueueName queue, QueueSettings settings) {
    requireOpen();
    return calls.put(About.queue(queue), path(queue), Wire.object(settings.members()));
  }

  @Override
  public Optional<QueueSettings> settings(QueueName queue) {
    requireOpen();
    try {
      var found = Wire.read(calls.get(About.queue(queue), path(queue), Map.of()));
      return Optional.of(
          QueueSettings.parse(
              QueueMode.valueOf(found.path("mode").asString()),
              // A server of an older release does not know each setting.
              setting ->
                  Optional.of(found.path(setting.name()).asString("")).filter(t -> !t.isEmpty())));
    } catch (KeeperException.UnknownQueue e) {
      return Optional.empty();
    }
  }

  @Override
  public List<QueueName> queues() {
    requireOpen();
    var names = new ArrayList<QueueName>();
    var about = About.queue(QueueName.of("all"));
    var next = Optional.<String>empty();
    do {
      var page = Wire.read(calls.get(about, "/queues", Wire.page(1000, next)));
      page.path("queues").forEach(each -> names.add(QueueName.of(each.path("name").asString())));
      next = Wire.text(page, "nextCursor");
    } while (next.isPresent());
    return names;
  }

  @Override
  public List<SendOutcome> send(QueueName queue, List<Message> messages) {
    var mode = mode(queue);
    Limits.DEFAULT.check(queue, mode, messages);
    if (messages.isEmpty()) {
      return List.of();
    }
    var body = Wire.object();
    var all = body.putArray("messages");
    messages.forEach(message -> all.add(Wire.message(message)));
    var outcomes = new ArrayList<SendOutcome>();
    for (var each :
        Wire.read(calls.post(About.queue(queue), path(queue) + "/messages", body))
            .path("messages")) {
      outcomes.add(outcome(each));
    }
    return outcomes;
  }

  private static SendOutcome outcome(JsonNode each) {
    var id = MessageId.of(each.path("messageId").asString());
    if (each.path("refused").isString()) {
      return new SendOutcome.Refused(id, each.path("refused").asString());
    }
    long sequence = each.path("sequence").asLong();
    return each.path("duplicate").asBoolean(false)
        ? new SendOutcome.Duplicate(id, sequence)
        : new SendOutcome.Stored(id, sequence);
  }

  @Override
  public AddressableSessions sessions(QueueName queue) {
    mode(queue).requireSessions(queue);
    var rounds = ordered.computeIfAbsent(queue, name -> new Rounds(calls, name, path(name), time));
    return new ServerSessions(calls, queue, path(queue), rounds, time);
  }

  @Override
  public MessageSource messages(QueueName queue) {
    mode(queue).requireNoSessions(queue);
    return loose.computeIfAbsent(queue, name -> new ServerMessages(calls, name, path(name)));
  }

  @Override
  public QueueStats stats(QueueName queue) {
    requireOpen();
    var found = Wire.read(calls.get(About.queue(queue), path(queue), Map.of()));
    return new QueueStats(
        found.path("depth").asLong(0),
        found.path("ready").asLong(0),
        found.path("inFlight").asLong(0),
        found.path("dead").asLong(0),
        Wire.text(found, "oldestAge").map(Duration::parse).orElse(Duration.ZERO),
        found.path("waiting").asLong(0),
        found.path("parked").asLong(0),
        found.path("paused").asLong(0));
  }

  @Override
  public Page<SessionView> inspect(
      QueueName queue, Optional<SessionStatus> status, Page.Request page) {
    requireOpen();
    var query = new HashMap<>(Wire.page(page.limit(), page.cursor()));
    status.ifPresent(each -> query.put("status", each.name().toLowerCase(Locale.ROOT)));
    var answer = Wire.read(calls.get(About.queue(queue), path(queue) + "/sessions", query));
    var views = new ArrayList<SessionView>();
    answer.path("sessions").forEach(each -> views.add(view(each)));
    return new Page<>(views, Wire.text(answer, "nextCursor"));
  }

  private static SessionView view(JsonNode each) {
    return new SessionView(
        SessionId.of(each.path("sessionId").asString()),
        SessionStatus.valueOf(each.path("status").asString().toUpperCase(Locale.ROOT)),
        each.path("backlog").asLong(),
        duration(each, "headAge"),
        Wire.text(each, "owner").map(Owner::of),
        each.path("epoch").asLong(),
        Wire.time(each, "lockedUntil"),
        each.path("attempts").asInt(),
        Wire.text(each, "blockedReason"),
        Wire.time(each, "blockedSince"));
  }

  @Override
  public int act(QueueName queue, SessionId session, Act act, String reason) {
    requireOpen();
    var body = Wire.object();
    body.put("sessionId", session.value());
    body.put("action", word(act));
    body.put("reason", reason);
    return Wire.read(calls.post(About.queue(queue), path(queue) + "/sessions/actions", body))
        .path("affected")
        .asInt();
  }

  private static String word(Act act) {
    return switch (act) {
      case PAUSE -> "pause";
      case RESUME -> "resume";
      case PARK -> "park";
      case RELEASE -> "release";
      case DEAD_LETTER_HEAD -> "deadLetterHead";
      case DEAD_LETTER_ALL -> "deadLetterAll";
    };
  }

  @Override
  public Page<DeadLetter> deadLetters(
      QueueName queue, Optional<SessionId> session, Page.Request page) {
    requireOpen();
    var letters = page(queue, session, page);
    // The API limits items only: a page with too many bytes is requested again, with fewer items.
    int fit =
        Page.of(letters.items(), page, letter -> letter.message().size(), DeadLetter::id)
            .items()
            .size();
    return fit == letters.items().size()
        ? letters
        : page(queue, session, new Page.Request(fit, page.cursor()));
  }

  private Page<DeadLetter> page(QueueName queue, Optional<SessionId> session, Page.Request page) {
    var query = new HashMap<>(Wire.page(page.limit(), page.cursor()));
    session.ifPresent(id -> query.put("sessionId", id.value()));
    var answer = calls.get(About.queue(queue), path(queue) + "/dead-letters", query);
    return new Page<>(
        Wire.messages(answer, "deadLetters").stream().map(ServerQueueProvider::letter).toList(),
        Wire.text(Wire.read(answer), "nextCursor"));
  }

  private static DeadLetter letter(Wire.Received dead) {
    var json = dead.json();
    return new DeadLetter(
        json.path("id").asString(),
        dead.message(),
        json.path("sequence").asLong(),
        json.path("attempts").asInt(),
        json.path("reason").asString(),
        json.path("lastError").asString(""),
        Instant.parse(json.path("enqueuedAt").asString()),
        Instant.parse(json.path("deadAt").asString()),
        json.path("replays").asInt());
  }

  @Override
  public int countReplayable(QueueName queue, Selection selection) {
    return replay(queue, selection, true).path("wouldReplay").asInt();
  }

  @Override
  public int replay(QueueName queue, Selection selection) {
    return replay(queue, selection, false).path("replayed").asInt();
  }

  private JsonNode replay(QueueName queue, Selection selection, boolean dryRun) {
    requireOpen();
    var body = Wire.object();
    switch (selection) {
      case Selection.All all -> body.put("all", true);
      case Selection.OfSession of -> body.put("sessionId", of.session().value());
      case Selection.OfMessages of -> {
        if (of.ids().isEmpty()) {
          return Wire.object();
        }
        var ids = body.putArray("messageIds");
        of.ids().forEach(id -> ids.add(id.value()));
      }
    }
    if (dryRun) {
      body.put("dryRun", true);
    }
    return Wire.read(calls.post(About.queue(queue), path(queue) + "/dead-letters/replay", body));
  }

  @Override
  public boolean discard(QueueName queue, String id) {
    requireOpen();
    try {
      calls.delete(About.queue(queue), path(queue) + "/dead-letters/" + KeeperClient.encoded(id));
      return true;
    } catch (KeeperException.Rejected e) {
      return false;
    }
  }

  @Override
  public long purge(QueueName queue, Part part) {
    requireOpen();
    var body = Wire.object().put("confirm", queue.value());
    body.put(
        "part",
        switch (part) {
          case MESSAGES -> "messages";
          case DEAD_LETTERS -> "deadLetters";
        });
    return Wire.read(calls.post(About.queue(queue), path(queue) + "/purge", body))
        .path("purged")
        .asLong();
  }

  @Override
  public boolean delete(QueueName queue) {
    requireOpen();
    modes.remove(queue);
    try {
      var confirm = KeeperClient.encoded(queue.value());
      calls.delete(About.queue(queue), path(queue) + "?confirm=" + confirm);
      return true;
    } catch (KeeperException.UnknownQueue e) {
      return false;
    }
  }

  /** A queue's mode never changes, so it is requested once. */
  private QueueMode mode(QueueName queue) {
    requireOpen();
    var known = modes.get(queue);
    if (known != null) {
      return known;
    }
    var mode = settings(queue).orElseThrow(() -> new KeeperException.UnknownQueue(queue)).mode();
    modes.put(queue, mode);
    return mode;
  }

  private static String path(QueueName queue) {
    return "/queues/" + KeeperClient.encoded(queue.value());
  }

  private static Duration duration(JsonNode json, String name) {
    return Duration.parse(json.path(name).asString("PT0S"));
  }

  private void requireOpen() {
    if (closed) {
      throw new KeeperException.Closed("The provider of the server's queues");
    }
  }

  @Override
  public void close() {
    closed = true;
    ordered.values().forEach(Rounds::close);
  }
}
