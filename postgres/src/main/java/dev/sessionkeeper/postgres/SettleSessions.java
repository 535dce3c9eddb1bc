package dev.sessionkeeper.postgres;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.store.GroupCalls;
import dev.sessionkeeper.store.Rhythm;
import dev.sessionkeeper.store.SqlErrors;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/**
 * Completes messages and gives lanes back: for many sessions one statement and one commit.
 *
 * <p>What is more than that, such as a retry or a state, is a {@link SettleCall} of its own. I1:
 * calls of one session take effect in the order in which they came; behind one that failed nothing
 * does. I2: a lease that is lost fails alone, not its group.
 */
final class SettleSessions {
  private static final String SETTLE =
      "SELECT * FROM keeper.settle_lanes(?, ?, ?, ?, ?, ?, ?, ?, ?)";
  private static final String MESSAGE_GONE = "SK001";
  private static final int MOST_CALLS = 4096;
  private static final Duration PACE = Duration.ofMillis(2);
  private static final int MOST_TRIES = 8;

  private final OrderedQueue queue;
  private final GroupCalls<Call> group;

  SettleSessions(OrderedQueue queue) {
    this.queue = queue;
    this.group =
        new GroupCalls<>(
            "keeper-settle-" + queue.name(),
            MOST_CALLS,
            Rhythm.apart(queue.time(), PACE),
            this::settleAll);
  }

  private sealed interface Call {
    SessionId session();

    CompletableFuture<Void> answer();

    /** Whether one before it has failed since it was sent. */
    default boolean isVoid() {
      return false;
    }

    /** The first message it is about. */
    default long first() {
      return 0;
    }
  }

  private record Complete(
      SessionId session,
      long epoch,
      long[] sequences,
      BooleanSupplier voided,
      CompletableFuture<Void> answer)
      implements Call {
    @Override
    public boolean isVoid() {
      return voided.getAsBoolean();
    }

    @Override
    public long first() {
      return sequences[0];
    }
  }

  private record Free(SessionId session, long epoch, CompletableFuture<Void> answer)
      implements Call {}

  private record Mixed(SettleCall call, BooleanSupplier voided, CompletableFuture<Void> answer)
      implements Call {
    @Override
    public SessionId session() {
      return call.session();
    }

    @Override
    public boolean isVoid() {
      return voided.getAsBoolean();
    }

    @Override
    public long first() {
      return call.settlements().isEmpty() ? 0 : call.settlements().get(0).sequence();
    }
  }

  /**
   * Completes messages.
   *
   * @param voided asked when its turn has come: whether one before it has failed meanwhile
   */
  CompletableFuture<Void> complete(
      SessionId session, long epoch, long[] sequences, BooleanSupplier voided) {
    return add(new Complete(session, epoch, sequences, voided, new CompletableFuture<>()));
  }

  CompletableFuture<Void> free(SessionId session, long epoch) {
    return add(new Free(session, epoch, new CompletableFuture<>()));
  }

  CompletableFuture<Void> settle(SettleCall call) {
    return settle(call, () -> false);
  }

  CompletableFuture<Void> settle(SettleCall call, BooleanSupplier voided) {
    return add(new Mixed(call, voided, new CompletableFuture<>()));
  }

  private CompletableFuture<Void> add(Call call) {
    group.add(call);
    return call.answer();
  }

  private void settleAll(List<Call> calls) {
    var left = calls;
    while (!left.isEmpty()) {
      left = settleSome(left);
    }
  }

  /** Settles what can go together; returns the calls that must wait for these. */
  private List<Call> settleSome(List<Call> calls) {
    var together = new LinkedHashMap<SessionId, Work>();
    var mixed = new LinkedHashMap<SessionId, Mixed>();
    var later = new ArrayList<Call>();
    var behind = new HashSet<SessionId>();
    for (var call : calls) {
      if (behind.contains(call.session()) || mixed.containsKey(call.session())) {
        later.add(call);
        continue;
      }
      if (call.isVoid()) {
        call.answer()
            .completeExceptionally(
                new KeeperException.OutOfOrder(
                    call.session(), call.first(), "the settlement before it failed"));
        continue;
      }
      switch (call) {
        case Mixed one -> mixed.put(one.session(), one);
        case Complete one -> {
          if (!work(together, one.session(), one.epoch).addIfSame(one, one.epoch, one.sequences)) {
            behind.add(one.session());
            later.add(one);
          }
        }
        case Free one -> {
          if (!work(together, one.session(), one.epoch).freeIfSame(one, one.epoch)) {
            later.add(one);
          }
          behind.add(one.session());
        }
      }
    }
    if (!together.isEmpty()) {
      settleTogether(List.copyOf(together.values()));
    }
    mixed.values().forEach(this::settleAlone);
    return later;
  }

  private static Work work(Map<SessionId, Work> together, SessionId session, long epoch) {
    return together.computeIfAbsent(session, s -> new Work(s, epoch));
  }

  /** What is to be done to one lane. */
  private static final class Work {
    private final SessionId session;
    private final long epoch;
    private final List<long[]> done = new ArrayList<>();
    private final List<CompletableFuture<Void>> answers = new ArrayList<>();
    private boolean free;

    Work(SessionId session, long epoch) {
      this.session = session;
      this.epoch = epoch;
    }

    boolean addIfSame(Complete call, long ofEpoch, long[] sequences) {
      if (ofEpoch != epoch) {
        return false;
      }
      done.add(sequences);
      answers.add(call.answer());
      return true;
    }

    boolean freeIfSame(Free call, long ofEpoch) {
      if (ofEpoch != epoch) {
        return false;
      }
      free = true;
      answers.add(call.answer());
      return true;
    }

    void fail(RuntimeException e) {
      answers.forEach(answer -> answer.completeExceptionally(e));
    }
  }

  private void settleTogether(List<Work> works) {
    try {
      var lost = settle(works);
      for (var work : works) {
        if (lost.contains(work.session)) {
          work.fail(new KeeperException.LockLost("session " + work.session, work.epoch));
        } else {
          work.answers.forEach(answer -> answer.complete(null));
        }
      }
    } catch (MessageGone e) {
      refuse(works);
    } catch (RuntimeException e) {
      works.forEach(work -> work.fail(e));
    }
  }

  /** One of them names a message that is not there; the others must not suffer. */
  private void refuse(List<Work> works) {
    if (works.size() > 1) {
      works.forEach(work -> settleTogether(List.of(work)));
      return;
    }
    var work = works.get(0);
    long first = work.done.get(0)[0];
    work.fail(
        new KeeperException.OutOfOrder(
            work.session, first, "it, or one settled with it, is not in hand"));
  }

  private static final class MessageGone extends RuntimeException {
    private static final long serialVersionUID = 1;

    MessageGone(SQLException cause) {
      super(cause);
    }
  }

  /**
   * Repeats after a lost connection: whoever still holds the lease is the only one who can have
   * completed what is missing then.
   */
  private Set<SessionId> settle(List<Work> works) {
    for (int attempt = 1; ; attempt++) {
      boolean again = attempt > 1;
      try {
        return queue.connections().tryCall(connection -> settle(connection, works, again));
      } catch (SQLException e) {
        if (MESSAGE_GONE.equals(e.getSQLState())) {
          throw new MessageGone(e);
        }
        if (!SqlErrors.isConnectionLoss(e) || attempt == MOST_TRIES) {
          throw SqlErrors.translate(e);
        }
        Connections.pause(attempt + 4);
      }
    }
  }

  private Set<SessionId> settle(Connection connection, List<Work> works, boolean again)
      throws SQLException {
    var sorted = works.stream().sorted(Comparator.comparing(work -> work.session)).toList();
    var kept = sorted.stream().filter(work -> !work.free).toList();
    var freed = sorted.stream().filter(work -> work.free).toList();
    var sessions = new ArrayList<String>();
    var sequences = new ArrayList<Long>();
    for (var work : works) {
      for (var part : work.done) {
        for (long sequence : part) {
          sessions.add(work.session.value());
          sequences.add(sequence);
        }
      }
    }
    try (var statement = connection.prepareStatement(SETTLE)) {
      statement.setInt(1, queue.id());
      statement.setArray(2, SqlArray.of(connection, "text", sessionsOf(kept)));
      statement.setArray(3, SqlArray.of(connection, "int8", epochsOf(kept)));
      statement.setArray(4, SqlArray.of(connection, "text", sessionsOf(freed)));
      statement.setArray(5, SqlArray.of(connection, "int8", epochsOf(freed)));
      statement.setArray(6, SqlArray.of(connection, "text", sessions.toArray(String[]::new)));
      statement.setArray(
          7,
          SqlArray.of(connection, "int8", sequences.stream().mapToLong(Long::longValue).toArray()));
      statement.setBoolean(8, again);
      statement.setLong(9, queue.node().shard());
      try (var rows = statement.executeQuery()) {
        var lost = new HashSet<SessionId>();
        while (rows.next()) {
          lost.add(SessionId.of(rows.getString(1)));
        }
        return lost;
      }
    }
  }

  private static String[] sessionsOf(List<Work> works) {
    return works.stream().map(work -> work.session.value()).toArray(String[]::new);
  }

  private static long[] epochsOf(List<Work> works) {
    return works.stream().mapToLong(work -> work.epoch).toArray();
  }

  private void settleAlone(Mixed mixed) {
    try {
      var call = mixed.call;
      queue
          .connections()
          .call(connection -> call.run(connection, queue.id(), queue.node().shard()));
      mixed.answer.complete(null);
    } catch (RuntimeException e) {
      mixed.answer.completeExceptionally(e);
    }
  }
}
