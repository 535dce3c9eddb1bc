package dev.sessionkeeper.server.system;

import dev.sessionkeeper.github.Bot;
import dev.sessionkeeper.github.Match;
import dev.sessionkeeper.github.RawDelivery;
import dev.sessionkeeper.github.ReadDelivery;
import dev.sessionkeeper.github.ReadResult;
import dev.sessionkeeper.server.http.Problem;
import dev.sessionkeeper.server.http.Reach;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import dev.sessionkeeper.store.Database;
import io.micrometer.core.instrument.MeterRegistry;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** Lists the bots of the configuration, and explains how they would treat an event. */
final class BotList {
  private static final String HOLDS =
      "SELECT queue, count(*) FROM keeper.bot_hold WHERE until > clock_timestamp() GROUP BY queue";

  /**
   * Selects the newest failures over all sessions of the bots' queues; attempts are kept for seven
   * days.
   */
  private static final String FAILURES =
      """
      SELECT b.name, f.at, f.session, f.attempt, f.error
        FROM unnest(?::text[]) b(name) JOIN keeper.queue k ON k.name = b.name
             CROSS JOIN LATERAL (SELECT a.at, a.session, a.attempt, left(a.error, 500) AS error FROM keeper.attempt a
                                  WHERE a.queue = k.id ORDER BY a.id DESC LIMIT %d) f
       ORDER BY b.name, f.at DESC
      """
          .formatted(3); // attempt_queue (queue, id)

  private final Database database;
  private final MeterRegistry meters;
  private final boolean hasAttempts;

  /**
   * Creates the list.
   *
   * @param hasAttempts whether the queues are in the same database, which records failed attempts
   */
  BotList(Database database, MeterRegistry meters, boolean hasAttempts) {
    this.database = database;
    this.meters = meters;
    this.hasAttempts = hasAttempts;
  }

  /**
   * A bot as the API shows it.
   *
   * @param held sessions that are held now, over all servers
   * @param failures the newest failed attempts, newest first
   * @param circuitOpen whether this server's circuit breaker stops pushes to the bot's endpoint
   */
  record Item(
      String name,
      String queue,
      List<String> events,
      Optional<List<String>> repositories,
      String scope,
      long held,
      int maxConcurrentSessions,
      String delivery,
      Optional<String> target,
      boolean circuitOpen,
      List<Failure> failures) {}

  /** A failed attempt of a bot. */
  record Failure(Instant at, String sessionId, int attempt, String error) {}

  /** The bots, by name. */
  record Listing(List<Item> bots) {}

  /** An event to try. */
  record Explain(String type, String payload) {
    static Explain read(Fields in) {
      var type = in.required("type", Decode.text(100));
      var payload = in.required("payload", Decode.text(1 << 20));
      in.check();
      return new Explain(type.get(), payload.get());
    }
  }

  /** One bot's decision about the event, with its reason. */
  record Verdict(String bot, boolean matched, String explanation, Optional<String> sessionId) {}

  /** The decisions of all bots. */
  record Verdicts(String event, List<Verdict> bots) {}

  Listing list(List<Bot> bots, Reach reach) {
    var shown = bots.stream().filter(bot -> reach.includes(bot.queue())).toList();
    var holds = holds();
    var failures = failures(shown);
    return new Listing(
        shown.stream()
            .map(
                bot ->
                    item(
                        bot,
                        holds.getOrDefault(bot.queue().value(), 0L),
                        failures.getOrDefault(bot.queue().value(), List.of())))
            .toList());
  }

  private Item item(Bot bot, long held, List<Failure> failures) {
    return new Item(
        bot.name(),
        bot.queue().value(),
        bot.subscription().events(),
        bot.subscription().repositories(),
        bot.ordering().scope().toString(),
        held,
        bot.limits().maxConcurrentSessions(),
        bot.deliver().isPresent() ? "push" : "pull",
        bot.deliver().map(target -> withoutQuery(String.valueOf(target.url()))),
        isOpen(bot.name()),
        failures);
  }

  /** Removes the query of an endpoint, which may contain a secret. */
  private static String withoutQuery(String url) {
    int query = url.indexOf('?');
    return query < 0 ? url : url.substring(0, query);
  }

  private boolean isOpen(String bot) {
    var gauge = meters.find("keeper.push.circuit.open").tag("bot_name", bot).gauge();
    return gauge != null && gauge.value() > 0;
  }

  private Map<String, List<Failure>> failures(List<Bot> bots) {
    if (!hasAttempts) {
      return Map.of();
    }
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(FAILURES)) {
            var queues = bots.stream().map(bot -> bot.queue().value()).toArray();
            statement.setArray(1, connection.createArrayOf("text", queues));
            try (var rows = statement.executeQuery()) {
              var failures = new HashMap<String, List<Failure>>();
              while (rows.next()) {
                failures
                    .computeIfAbsent(rows.getString(1), queue -> new ArrayList<>())
                    .add(
                        new Failure(
                            rows.getObject(2, OffsetDateTime.class).toInstant(),
                            rows.getString(3),
                            rows.getInt(4),
                            rows.getString(5)));
              }
              return failures;
            }
          }
        });
  }

  private Map<String, Long> holds() {
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(HOLDS);
              var rows = statement.executeQuery()) {
            var held = new HashMap<String, Long>();
            while (rows.next()) {
              held.put(rows.getString(1), rows.getLong(2));
            }
            return held;
          }
        });
  }

  /**
   * Tries an event without storing it.
   *
   * @throws dev.sessionkeeper.server.http.ProblemException 400 if it is no valid event
   */
  static Verdicts explain(Explain wish, List<Bot> bots, Reach reach) {
    var raw =
        new RawDelivery(
            Optional.of(wish.type()),
            Optional.of(UUID.randomUUID().toString()),
            Optional.empty(),
            Optional.of("application/json"),
            wish.payload().getBytes(StandardCharsets.UTF_8));
    return switch (ReadDelivery.readAgain(raw)) {
      case ReadResult.Refused refused ->
          throw Problem.invalid("payload", refused.explanation()).toException();
      case ReadResult.Accepted accepted ->
          new Verdicts(
              accepted.event().name(),
              bots.stream()
                  .filter(bot -> reach.includes(bot.queue()))
                  .map(
                      bot -> {
                        var match = bot.subscription().match(accepted.event());
                        boolean isMatched = match instanceof Match.Matched;
                        return new Verdict(
                            bot.name(),
                            isMatched,
                            match.explanation(),
                            isMatched
                                ? bot.ordering()
                                    .sessionOf(accepted.event())
                                    .map(session -> session.value())
                                : Optional.empty());
                      })
                  .toList());
    };
  }
}
