package dev.sessionkeeper.postgres.read;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.batch.BatchRow;
import dev.sessionkeeper.postgres.batch.MessageBatch;
import dev.sessionkeeper.postgres.row.FoundMessage;
import dev.sessionkeeper.postgres.row.HandedRow;
import dev.sessionkeeper.postgres.row.KnownSnapshot;
import dev.sessionkeeper.postgres.row.LeftToRead;
import dev.sessionkeeper.postgres.row.ReadSummary;
import dev.sessionkeeper.postgres.row.RowKind;
import dev.sessionkeeper.postgres.row.SessionNews;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The result of one read of the buckets of this process. */
public final class ReadResult {
  private final long mine;
  final Map<SessionId, FreshMessages> messages = new LinkedHashMap<>();
  final List<MessageBatch> batches = new ArrayList<>();

  /** Sessions with rows that have got more messages. */
  final List<SessionNews> news = new ArrayList<>();

  ReadSummary summary = ReadSummary.NONE;
  KnownSnapshot known = new KnownSnapshot("", Optional.empty());
  private boolean hasRows;

  /** Whether this process lost its right to read. */
  boolean isLost;

  int count;
  long bytes;
  private @Nullable LeftToRead leftToRead;

  /**
   * Creates an empty result.
   *
   * @param mine the buckets of this process
   */
  ReadResult(long mine) {
    this.mine = mine;
  }

  /** Returns the messages that a second statement has to read, without locks. */
  Optional<LeftToRead> leftToRead() {
    return Optional.ofNullable(leftToRead);
  }

  void add(ResultSet row) throws SQLException {
    switch (RowKind.of(row)) {
      case NEW_MESSAGE -> {
        var session = HandedRow.session(row);
        add(session, FoundMessage.of(row, session, HandedRow.until(row)));
        hasRows = true;
      }
      case BATCH -> add(new BatchRow(row, mine));
      case NEWS -> news.add(SessionNews.of(row));
      case SNAPSHOT -> {
        var next = KnownSnapshot.of(row);
        known = new KnownSnapshot(next.snapshot(), next.moreAfter().or(known::moreAfter));
      }
      case LOST -> isLost = true;
      case LEFT_TO_READ -> leftToRead = new LeftToRead(row);
      case SUMMARY -> summary = ReadSummary.of(row);
      case SESSION -> throw new KeeperException.Rejected("Unknown row of a read");
    }
  }

  /** Takes all messages at once, so that a statement that broke halfway can be repeated. */
  void takeMessagesOf(ReadResult rest) {
    messages.putAll(rest.messages);
    batches.addAll(rest.batches);
    hasRows |= rest.hasRows;
    count += rest.count;
    bytes += rest.bytes;
  }

  private void add(BatchRow batch) {
    batches.add(batch.open());
    for (int i = 0; i < batch.size(); i++) {
      if (!batch.isDone(i)) {
        add(batch.session(i), batch.message(i));
      }
    }
  }

  private void add(SessionId session, FoundMessage found) {
    messages.computeIfAbsent(session, s -> new FreshMessages()).add(found);
    count++;
    bytes += found.bytes();
  }

  /** Sorts messages: rows come behind batches, whatever their numbers are. */
  void putInOrder() {
    if (!batches.isEmpty() && hasRows) {
      messages.values().forEach(FreshMessages::putInOrder);
    }
  }
}
