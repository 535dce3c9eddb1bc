package dev.sessionkeeper.client.provider;

import dev.sessionkeeper.Owner;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.client.provider.PendingCalls.Entry;
import dev.sessionkeeper.client.provider.PendingCalls.Receive;
import dev.sessionkeeper.client.provider.PendingCalls.Release;
import dev.sessionkeeper.client.provider.PendingCalls.Settle;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import tools.jackson.databind.node.ObjectNode;

/**
 * One request of {@code POST /queues/{queue}/work}. Its id makes it safe to repeat.
 *
 * @param accepts of one owner
 * @param patience how long the server waits for a session
 */
record Round(
    String id,
    List<Entry> entries,
    List<Renewal> renewals,
    List<Accept> accepts,
    Duration patience) {
  Round {
    entries = List.copyOf(entries);
    renewals = List.copyOf(renewals);
    accepts = List.copyOf(accepts);
  }

  static Round of(
      List<Entry> entries, List<Renewal> renewals, List<Accept> accepts, Duration patience) {
    return new Round(UUID.randomUUID().toString(), entries, renewals, accepts, patience);
  }

  /** The wish to renew a lease. */
  record Renewal(String leaseId, CompletableFuture<Instant> done) {}

  /**
   * The wish for one session.
   *
   * @param until the end of its patience; monotonic
   * @param prefetch how many messages the session should bring
   */
  record Accept(
      Owner owner,
      long until,
      AtomicInteger prefetch,
      CompletableFuture<Optional<ServerHeldSession>> done) {}

  /** Returns the round that looks for the sessions of this one, if its answer was cut off. */
  Round lookingBack() {
    return new Round(id, List.of(), List.of(), List.of(), Duration.ZERO);
  }

  /** Returns a round for each part; none if this round has one part. */
  List<Round> apart() {
    if (entries.size() + renewals.size() + accepts.size() < 2) {
      return List.of();
    }
    var none = List.<Entry>of();
    return Stream.of(
            entries.stream().map(each -> of(List.of(each), List.of(), List.of(), Duration.ZERO)),
            renewals.stream().map(each -> of(none, List.of(each), List.of(), Duration.ZERO)),
            accepts.stream().map(each -> of(none, List.of(), List.of(each), patience)))
        .flatMap(rounds -> rounds)
        .toList();
  }

  byte[] json() {
    var body = Wire.object().put("requestId", id);
    if (!entries.isEmpty()) {
      var all = body.putArray("settle");
      entries.forEach(entry -> all.add(json(entry)));
    }
    if (!renewals.isEmpty()) {
      var all = body.putArray("renew");
      renewals.forEach(renewal -> all.add(renewal.leaseId()));
    }
    if (!accepts.isEmpty()) {
      body.put("owner", accepts.getFirst().owner().name());
    }
    int messages = messages();
    if (messages > 0) {
      body.putObject("take")
          .put("sessions", accepts.size())
          .put("messages", messages)
          .put("wait", patience.toString())
          .put("state", false);
    }
    return Wire.bytes(body);
  }

  /** A session may get more messages than it asked for; it keeps the rest. */
  int messages() {
    return Stream.concat(
            accepts.stream().map(accept -> accept.prefetch().get()),
            entries.stream()
                .flatMap(entry -> entry.last().stream())
                .map(last -> last instanceof Receive receive ? receive.max() : 0))
        .mapToInt(each -> each)
        .max()
        .orElse(0);
  }

  private static ObjectNode json(Entry entry) {
    var json = Wire.object().put("leaseId", entry.of().leaseId());
    var settled = entry.settles().stream().flatMap(each -> each.settled().stream()).toList();
    long completed =
        settled.stream()
            .takeWhile(each -> each.settlement() instanceof Settlement.Complete)
            .count();
    if (completed > 0) {
      var all = json.putArray("completed");
      settled.stream().limit(completed).forEach(each -> all.add(each.sequence()));
    }
    if (completed < settled.size()) {
      var all = json.putArray("settlements");
      settled.stream()
          .skip(completed)
          .forEach(
              each -> all.add(Wire.settlement(each.settlement()).put("sequence", each.sequence())));
    }
    entry.settles().stream()
        .flatMap(each -> each.state().stream())
        .forEach(state -> put(json, state));
    return json.put(
        "then",
        switch (entry.last().orElse(null)) {
          case null -> "keep";
          case Settle settle -> "keep";
          case Receive receive -> "more";
          case Release release -> "release";
        });
  }

  private static void put(ObjectNode json, SessionState.Write state) {
    json.put("state", Base64.getEncoder().encodeToString(state.bytes()));
    if (state.expectedVersion() != SessionState.ANY_VERSION) {
      json.put("stateVersion", state.expectedVersion());
    }
  }
}
