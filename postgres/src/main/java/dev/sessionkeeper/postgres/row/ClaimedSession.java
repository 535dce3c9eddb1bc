package dev.sessionkeeper.postgres.row;

import dev.sessionkeeper.Lease;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.SessionId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * A session with a row as a claim or a fetch found it: its lease and some of its messages, in
 * order.
 */
public final class ClaimedSession {
  public final SessionId session;
  public final Lease lease;
  public final List<FoundMessage> messages = new ArrayList<>();

  /** Whether the session has more messages, which were too large for a statement with locks. */
  private boolean isCut;

  public ClaimedSession(SessionId session, Lease lease) {
    this.session = session;
    this.lease = lease;
  }

  public static ClaimedSession of(ResultSet row, SessionId session) throws SQLException {
    return new ClaimedSession(
        session,
        new Lease(
            session.value(),
            Owner.of(HandedRow.node(row)),
            HandedRow.epoch(row),
            HandedRow.until(row)));
  }

  public void addMessage(ResultSet row) throws SQLException {
    if (HandedRow.hasMessage(row)) {
      messages.add(FoundMessage.of(row, session, Instant.MAX));
    } else if (HandedRow.flag(row)) {
      isCut = true;
    }
  }

  public boolean isCut() {
    return isCut;
  }

  /** Returns the sequence number of the last message that was read; zero before the first one. */
  public long last() {
    return messages.isEmpty() ? 0 : messages.getLast().delivery().sequence();
  }
}
