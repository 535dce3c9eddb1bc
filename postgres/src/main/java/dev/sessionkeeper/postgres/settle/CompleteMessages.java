package dev.sessionkeeper.postgres.settle;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.batch.CompletedMessages;
import dev.sessionkeeper.postgres.jdbc.Connections;
import dev.sessionkeeper.postgres.jdbc.SqlArray;
import dev.sessionkeeper.postgres.jdbc.StorableText;
import dev.sessionkeeper.postgres.queue.QueueContext;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.store.SqlErrors;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Completes messages of many sessions with one statement, in rows or in memory, and answers the
 * calls. The statement for cached sessions also counts retries.
 */
public final class CompleteMessages {
  private static final String OF_ROWS =
      "SELECT * FROM keeper.settle_lanes(?, ?, ?, ?, ?, ?, ?, ?, ?)";
  private static final String OF_CACHED =
      "SELECT * FROM keeper.settle_carried(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
  private static final String RETRIED =
      "SELECT * FROM keeper.settle_retried(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
  private static final String MESSAGE_GONE = "SK001";
  private static final String NOT_THE_READER = "SK002";

  private final QueueContext queue;

  CompleteMessages(QueueContext queue) {
    this.queue = queue;
  }

  /** A statement. A repetition accepts messages that are completed already. */
  @FunctionalInterface
  private interface Statement<T> {
    T run(Connection connection, boolean again) throws SQLException;
  }

  /**
   * The sessions because of which a statement did nothing.
   *
   * @param written they have rows by now
   * @param refused only a row can say what follows their retries
   */
  private record Unsettled(Set<SessionId> written, Set<SessionId> refused) {
    static Unsettled none() {
      return new Unsettled(new HashSet<>(), new HashSet<>());
    }

    boolean isEmpty() {
      return written.isEmpty() && refused.isEmpty();
    }
  }

  /**
   * Completes messages of sessions with rows, and gives sessions back. If a lease is lost, only its
   * own calls fail.
   */
  void ofRows(List<SettleWork> works) {
    try {
      var lost = repeat(works, (connection, again) -> rows(connection, works, again));
      for (var work : works) {
        if (lost.contains(work.session())) {
          work.lose();
        } else {
          work.succeed();
        }
      }
    } catch (SQLException e) {
      fail(works, e, one -> ofRows(List.of(one)));
    } catch (KeeperException.OutcomeUnknown e) {
      works.forEach(work -> work.fail(e));
    }
  }

  /**
   * Completes and retries messages of cached sessions. Returns those that were persisted meanwhile,
   * for which nothing was done. A hold is settled only under the reader's epoch in which it began,
   * because another process may have had the session in between.
   */
  List<SettleWork> ofCached(Reader reader, List<SettleWork> works) {
    var epoch = reader.epoch();
    var left = new ArrayList<SettleWork>();
    var cached = works.stream().filter(work -> work.isOf(epoch)).toList();
    leaveToRows(reader, works.stream().filter(work -> !work.isOf(epoch)).toList(), left);
    long note = reader.batches().nextRecord();
    try {
      while (!cached.isEmpty()) {
        var fence = new Fence.OfReader(reader, epoch.orElseThrow());
        var unsettled = complete(fence, cached, note, !left.isEmpty());
        if (unsettled.isEmpty()) {
          cached.forEach(SettleWork::succeed);
          return left;
        }
        var written = unsettled.written;
        cached.stream()
            .filter(work -> unsettled.refused.contains(work.session()))
            .forEach(work -> work.takeRetry().ifPresent(RetryCall::needsRow));
        cached.stream().filter(work -> written.contains(work.session())).forEach(left::add);
        cached = cached.stream().filter(work -> !written.contains(work.session())).toList();
      }
    } catch (SQLException e) {
      if (NOT_THE_READER.equals(e.getSQLState())) {
        leaveToRows(reader, cached, left);
      } else {
        fail(cached, e, one -> left.addAll(ofCached(reader, List.of(one))));
      }
    } catch (KeeperException.OutcomeUnknown e) {
      cached.forEach(work -> work.fail(e));
    }
    return left;
  }

  /**
   * Divides holds whose reader lease has ended: sessions that were persisted are settled in their
   * rows, the others are lost. The same epoch in a row is no proof, because a crash of the database
   * may lose epochs, which are then assigned again.
   */
  private static void leaveToRows(Reader reader, List<SettleWork> works, List<SettleWork> left) {
    for (var work : works) {
      reader.awaitPersisting(work.session());
      if (work.hasRow()) {
        left.add(work);
      } else {
        work.lose();
      }
    }
  }

  /** Settles all messages, or returns the sessions because of which it settles none. */
  private Unsettled complete(Fence.OfReader fence, List<SettleWork> works, long note, boolean again)
      throws SQLException {
    var busy = works.stream().filter(SettleWork::isToWrite).toList();
    if (busy.isEmpty()) {
      return Unsettled.none();
    }
    var batches = fence.reader().batches();
    var completed = batches.tellApart(busy, note);
    var unsettled =
        repeat(
            busy,
            (connection, once) ->
                cached(connection, fence.epoch(), busy, completed, once || again));
    if (unsettled.isEmpty()) {
      batches.close(completed);
    }
    return unsettled;
  }

  private static void fail(
      List<SettleWork> works, SQLException e, java.util.function.Consumer<SettleWork> alone) {
    if (SqlErrors.isLockTimeout(e) && works.size() > 1) {
      // A transaction has one of the sessions locked; the others go on.
      works.forEach(alone);
    } else if (!MESSAGE_GONE.equals(e.getSQLState())) {
      var error = SqlErrors.translate(e);
      works.forEach(work -> work.fail(error));
    } else if (works.size() > 1) {
      // One call names a message that is not there. Retried one by one, only that call fails.
      works.forEach(alone);
    } else {
      var work = works.get(0);
      work.fail(
          new KeeperException.OutOfOrder(
              work.session(), work.done().get(0)[0], "it, or one settled with it, is not in hand"));
    }
  }

  /**
   * Repeats after a lost connection. If an owner still holds the lease, only that owner can have
   * completed messages that are missing now. An owner that has lost the lease does not learn
   * whether the first attempt took effect.
   */
  private <T> T repeat(List<SettleWork> works, Statement<T> statement) throws SQLException {
    KeeperException.OutcomeUnknown unknown = null;
    for (int attempt = 1; ; attempt++) {
      boolean again = attempt > 1;
      try {
        return queue
            .connections()
            .tryCall(
                Database.decided("A settlement", connection -> statement.run(connection, again)));
      } catch (KeeperException.OutcomeUnknown e) {
        unknown = e;
        works.forEach(work -> work.doubt(e));
      } catch (SQLException e) {
        if (!SqlErrors.isConnectionLoss(e) || (unknown == null && isLastTry(attempt))) {
          throw e;
        }
      }
      if (unknown != null && isLastTry(attempt)) {
        throw unknown;
      }
      Connections.pause(attempt + 4);
    }
  }

  private static boolean isLastTry(int attempt) {
    return !Connections.mayRepeatAfter(attempt);
  }

  private Set<SessionId> rows(Connection connection, List<SettleWork> works, boolean again)
      throws SQLException {
    var sorted = works.stream().sorted(Comparator.comparing(SettleWork::session)).toList();
    var kept = sorted.stream().filter(work -> !work.isFreed()).toList();
    var freed = sorted.stream().filter(SettleWork::isFreed).toList();
    var done = new Done(works);
    try (var statement = connection.prepareStatement(OF_ROWS)) {
      statement.setInt(1, queue.id());
      statement.setArray(2, SqlArray.of(connection, "text", sessionsOf(kept)));
      statement.setArray(3, SqlArray.of(connection, "int8", epochsOf(kept)));
      statement.setArray(4, SqlArray.of(connection, "text", sessionsOf(freed)));
      statement.setArray(5, SqlArray.of(connection, "int8", epochsOf(freed)));
      statement.setArray(6, SqlArray.of(connection, "text", done.sessions));
      statement.setArray(7, SqlArray.of(connection, "int8", done.sequences));
      // A completion in memory that got no answer counts as a repetition too.
      statement.setBoolean(8, again || works.stream().anyMatch(SettleWork::wasCached));
      statement.setLong(9, queue.node().shard());
      return sessions(statement);
    }
  }

  private Unsettled cached(
      Connection connection,
      long readerEpoch,
      List<SettleWork> works,
      CompletedMessages done,
      boolean again)
      throws SQLException {
    var retries = works.stream().flatMap(work -> work.retry().stream()).toList();
    try (var statement = connection.prepareStatement(retries.isEmpty() ? OF_CACHED : RETRIED)) {
      statement.setInt(1, queue.id());
      statement.setLong(2, readerEpoch);
      statement.setArray(3, SqlArray.of(connection, "text", sessionsOf(works)));
      statement.setLong(4, done.note);
      statement.setArray(5, SqlArray.of(connection, "int8", done.incomplete.firsts()));
      statement.setArray(6, SqlArray.of(connection, "int8", done.incomplete.masks()));
      statement.setArray(7, SqlArray.of(connection, "int8", done.complete.firsts()));
      statement.setArray(8, SqlArray.of(connection, "int8", done.complete.masks()));
      statement.setArray(9, SqlArray.of(connection, "int8", done.shared.firsts()));
      statement.setArray(10, SqlArray.of(connection, "int8", done.shared.masks()));
      statement.setArray(11, SqlArray.of(connection, "int8", done.late.firsts()));
      statement.setArray(12, SqlArray.of(connection, "int8", done.late.masks()));
      statement.setArray(13, SqlArray.of(connection, "int8", done.over));
      statement.setArray(14, SqlArray.of(connection, "text", done.sessions.toArray(String[]::new)));
      statement.setArray(15, SqlArray.of(connection, "int8", done.sequences.toArray(Long[]::new)));
      statement.setBoolean(16, again);
      statement.setLong(17, queue.node().shard());
      if (retries.isEmpty()) {
        return new Unsettled(sessions(statement), Set.of());
      }
      bind(connection, statement, retries);
      var unsettled = Unsettled.none();
      try (var rows = statement.executeQuery()) {
        while (rows.next()) {
          var of = rows.getBoolean(2) ? unsettled.refused : unsettled.written;
          of.add(SessionId.of(rows.getString(1)));
        }
      }
      return unsettled;
    }
  }

  /** Sets the parameters behind those of completions. */
  private static void bind(
      Connection connection, PreparedStatement statement, List<RetryCall> retries)
      throws SQLException {
    int count = retries.size();
    var sessions = new String[count];
    var sequences = new long[count];
    var tried = new int[count];
    var limits = new boolean[count];
    var reasons = new String[count];
    for (int i = 0; i < count; i++) {
      var call = retries.get(i);
      sessions[i] = call.session().value();
      sequences[i] = call.sequence();
      tried[i] = call.tried();
      limits[i] = call.retry().limited();
      reasons[i] = StorableText.storable(call.retry().reason());
    }
    statement.setArray(18, SqlArray.of(connection, "text", sessions));
    statement.setArray(19, SqlArray.of(connection, "int8", sequences));
    statement.setArray(20, SqlArray.of(connection, "int4", tried));
    statement.setArray(21, SqlArray.of(connection, "bool", limits));
    statement.setArray(22, SqlArray.of(connection, "text", reasons));
  }

  /** All completed messages of a batch of calls, as two arrays. */
  private static final class Done {
    private final String[] sessions;
    private final long[] sequences;

    Done(List<SettleWork> works) {
      int count = 0;
      for (var work : works) {
        for (var part : work.done()) {
          count += part.length;
        }
      }
      sessions = new String[count];
      sequences = new long[count];
      int next = 0;
      for (var work : works) {
        for (var part : work.done()) {
          for (long sequence : part) {
            sessions[next] = work.session().value();
            sequences[next++] = sequence;
          }
        }
      }
    }
  }

  private static Set<SessionId> sessions(PreparedStatement statement) throws SQLException {
    try (var rows = statement.executeQuery()) {
      var sessions = new HashSet<SessionId>();
      while (rows.next()) {
        sessions.add(SessionId.of(rows.getString(1)));
      }
      return sessions;
    }
  }

  private static String[] sessionsOf(List<SettleWork> works) {
    return works.stream().map(work -> work.session().value()).toArray(String[]::new);
  }

  private static long[] epochsOf(List<SettleWork> works) {
    return works.stream().mapToLong(SettleWork::epoch).toArray();
  }
}
