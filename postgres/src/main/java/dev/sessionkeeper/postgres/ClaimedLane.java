package dev.sessionkeeper.postgres;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Lease;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.SessionId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A lane as a claim or a fetch found it: its lease and some of its messages, in order. */
final class ClaimedLane {
  final SessionId session;
  final Lease lease;
  final List<FoundMessage> messages = new ArrayList<>();

  /** Whether it has more messages, which were too much for a statement with locks. */
  private boolean isCut;

  ClaimedLane(SessionId session, Lease lease) {
    this.session = session;
    this.lease = lease;
  }

  static ClaimedLane of(ResultSet row, SessionId session) throws SQLException {
    return new ClaimedLane(
        session,
        new Lease(
            session.value(),
            Owner.of(HandedRow.node(row)),
            HandedRow.epoch(row),
            HandedRow.until(row)));
  }

  void addMessage(ResultSet row) throws SQLException {
    if (HandedRow.hasMessage(row)) {
      messages.add(FoundMessage.of(row, session, Instant.MAX));
    } else if (HandedRow.flag(row)) {
      isCut = true;
    }
  }

  boolean isCut() {
    return isCut;
  }

  /** The last message that was read; zero before the first one. */
  long last() {
    return messages.isEmpty() ? 0 : messages.getLast().delivery().sequence();
  }
}
