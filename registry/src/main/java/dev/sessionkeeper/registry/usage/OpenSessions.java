package dev.sessionkeeper.registry.usage;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * Locks the sessions that are still to be metered, a chunk at a time, from either end of the order
 * of tenants and sessions. Skips rows that another transaction has locked.
 *
 * <p>Threads: one per end.
 */
final class OpenSessions {
  static final int CHUNK = 500;

  /** The end from which to read. */
  enum End {
    LOW("ASC"),
    HIGH("DESC");

    private final String sql;

    End(String order) {
      sql =
          """
          SELECT %s
            FROM keeper.registered_session
           WHERE NOT closed AND metered_through < ?
             AND (tenant_id, session_id) > (?, ?) AND (tenant_id, session_id) < (?, ?)
             AND NOT EXISTS (SELECT FROM keeper.metering_hold WHERE released_at IS NULL)
           ORDER BY tenant_id %s, session_id %2$s
           LIMIT %d
             FOR NO KEY UPDATE SKIP LOCKED
          """
              .formatted(MeteredSession.COLUMNS, order, CHUNK); // registered_session_open
    }
  }

  /** A position in the database's order, which compares bytes as unsigned. */
  private record Place(UUID tenant, UUID session) {
    static final Place FIRST = new Place(new UUID(0, 0), new UUID(0, 0));
    static final Place LAST = new Place(new UUID(-1, -1), new UUID(-1, -1));

    boolean isBefore(Place other) {
      int byTenant = compare(tenant, other.tenant);
      return byTenant < 0 || (byTenant == 0 && compare(session, other.session) < 0);
    }

    private static int compare(UUID one, UUID other) {
      int high = Long.compareUnsigned(one.getMostSignificantBits(), other.getMostSignificantBits());
      return high != 0
          ? high
          : Long.compareUnsigned(one.getLeastSignificantBits(), other.getLeastSignificantBits());
    }
  }

  private volatile Place low = Place.FIRST;
  private volatile Place high = Place.LAST;
  private volatile boolean stopped;

  /**
   * Returns the next chunk from an end, locked by the connection's transaction. The position does
   * not move.
   */
  List<MeteredSession> lockNext(Connection connection, Instant slotEnd, End end)
      throws SQLException {
    try (var statement = connection.prepareStatement(end.sql)) {
      statement.setObject(1, slotEnd.atOffset(ZoneOffset.UTC));
      statement.setObject(2, low.tenant());
      statement.setObject(3, low.session());
      statement.setObject(4, high.tenant());
      statement.setObject(5, high.session());
      try (var rows = statement.executeQuery()) {
        var sessions = new ArrayList<MeteredSession>(CHUNK);
        while (rows.next()) {
          sessions.add(MeteredSession.read(rows));
        }
        return sessions;
      }
    }
  }

  /**
   * Moves the position behind a committed chunk. Returns whether there may be more sessions from
   * this end.
   */
  boolean passed(List<MeteredSession> chunk, End end) {
    if (chunk.size() < CHUNK) {
      return false;
    }
    var last = chunk.getLast();
    var place = new Place(last.tenantId(), last.sessionId());
    switch (end) {
      case LOW -> low = place;
      case HIGH -> high = place;
    }
    return !stopped && low.isBefore(high);
  }

  /** Makes both ends stop after their current chunk. */
  void stop() {
    stopped = true;
  }
}
