package dev.sessionkeeper.server.queues;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.sessionkeeper.Limits;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import dev.sessionkeeper.spi.HeldSession;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A worker's request: settles handled messages, renews held sessions, accepts more.
 *
 * @param requestId identifies the request; repeating it settles and accepts nothing twice
 * @param owner a name for operators; by default the credential's
 */
record WorkRequest(
    String requestId,
    Optional<String> owner,
    Optional<List<WorkSettle>> settle,
    Optional<List<String>> renew,
    Optional<WorkTake> take) {
  private static final int MAX_ID = 128;
  private static final int MAX_SESSIONS = 256;
  private static final int MAX_LEASES = 1_000;
  private static final int MAX_LEASE_ID = 1_000;

  static WorkRequest read(Fields in) {
    var id = in.required("requestId", Decode.text(MAX_ID).map(WorkRequest::requireText));
    var owner = in.optional("owner", Decode.text().map(text -> Owner.of(text).name()));
    var settle = in.optional("settle", Decode.list(0, MAX_LEASES, Decode.object(WorkSettle::read)));
    var renew = in.optional("renew", Decode.list(0, MAX_LEASES, Decode.text(MAX_LEASE_ID)));
    var take = in.optional("take", Decode.object(WorkTake::read));
    in.check();
    var request = new WorkRequest(id.get(), owner.get(), settle.get(), renew.get(), take.get());
    if (new HashSet<>(request.settled().stream().map(WorkSettle::leaseId).toList()).size()
        < request.settled().size()) {
      in.reject("settle", "must name each lease once");
      in.check();
    }
    return request;
  }

  private static String requireText(String text) {
    if (text.isBlank()) {
      throw new IllegalArgumentException("must have text");
    }
    return text;
  }

  List<WorkSettle> settled() {
    return settle.orElse(List.of());
  }

  /**
   * Refuses the request if a settlement or a state in it can never be valid. Checked before the
   * first effect, because a refusal says that nothing was changed.
   */
  void requireValid() {
    for (var each : settled()) {
      var unusedSettlements = each.settled();
      var unusedState = each.write();
    }
  }

  List<String> renewed() {
    return renew.orElse(List.of());
  }

  /** Returns the leases that the worker presents. */
  Stream<String> shownLeases() {
    return Stream.concat(settled().stream().map(WorkSettle::leaseId), renewed().stream());
  }

  /** Returns the most messages and bytes of each session, including sessions that continue. */
  WorkTake each() {
    return take.orElse(WorkTake.DEFAULT);
  }

  /** The worker's choice for a session after its settlements. */
  enum Then {
    /** Continue the session with its next messages, or release it if there are none. */
    NEXT,
    /** Continue the session with its next messages; keep it if there are none. */
    MORE,
    /** Keep the session without receiving. */
    KEEP,
    /** Release the session. */
    RELEASE;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * Settlements of one session, all or nothing.
   *
   * @param completed sequence numbers of completed deliveries; they come before the other
   *     settlements
   */
  record WorkSettle(
      String leaseId,
      Optional<List<Long>> completed,
      Optional<List<SettleRequest.Item>> settlements,
      Optional<byte[]> state,
      Optional<Long> stateVersion,
      Optional<Then> then) {
    static WorkSettle read(Fields in) {
      var lease = in.required("leaseId", Decode.text(MAX_LEASE_ID));
      var completed =
          in.optional(
              "completed",
              Decode.list(0, Limits.DEFAULT.maxBatch(), Decode.integer(0L, Long.MAX_VALUE)));
      var settlements =
          in.optional(
              "settlements",
              Decode.list(0, Limits.DEFAULT.maxBatch(), Decode.object(SettleRequest.Item::read)));
      var state = in.optional("state", Decode.base64());
      var version = in.optional("stateVersion", Decode.integer(0L, Long.MAX_VALUE));
      var then = in.optional("then", Decode.oneOf(Decode.words(Then.class, Then::toString)));
      if (in.has("stateVersion") && !in.has("state")) {
        in.reject("stateVersion", "is given without state");
      }
      in.check();
      return new WorkSettle(
          lease.get(), completed.get(), settlements.get(), state.get(), version.get(), then.get());
    }

    Then following() {
      return then.orElse(Then.NEXT);
    }

    List<HeldSession.Settled> settled() {
      var all = new ArrayList<HeldSession.Settled>();
      for (long sequence : completed.orElse(List.of())) {
        all.add(new HeldSession.Settled(sequence, Settlement.complete()));
      }
      all.addAll(rest().settled());
      return all;
    }

    Optional<SessionState.Write> write() {
      return rest().write();
    }

    private SettleRequest rest() {
      return new SettleRequest(settlements.orElse(List.of()), state, stateVersion);
    }
  }

  /**
   * Sessions to accept, and the limits of each session, including those that continue.
   *
   * @param sessions how many to accept at most; with 0 only the limits apply
   * @param state whether to include the state of each session; true by default
   */
  record WorkTake(
      Optional<Integer> sessions,
      Optional<Integer> messages,
      Optional<Long> bytes,
      @JsonProperty("wait") Optional<Duration> patience,
      Optional<Boolean> state) {
    static final WorkTake DEFAULT =
        new WorkTake(
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty());

    static WorkTake read(Fields in) {
      var sessions = in.optional("sessions", Decode.integer(0, MAX_SESSIONS));
      var messages = in.optional("messages", Decode.integer(1, Limits.DEFAULT.maxBatch()));
      var bytes = in.optional("bytes", Decode.integer(1024L, ReceiveForAnswer.MOST_BYTES));
      var wait = in.optional("wait", Decode.duration(Duration.ZERO, Queues.MAX_WAIT));
      var state = in.optional("state", Decode.bool());
      in.check();
      return new WorkTake(sessions.get(), messages.get(), bytes.get(), wait.get(), state.get());
    }

    int mostSessions() {
      return sessions.orElse(1);
    }

    int mostMessages() {
      return messages.orElse(10);
    }

    long mostBytes() {
      return bytes.orElse(1L << 20);
    }

    Duration patienceOrNone() {
      return patience.orElse(Duration.ZERO);
    }

    boolean wantsState() {
      return state.orElse(true);
    }
  }
}
