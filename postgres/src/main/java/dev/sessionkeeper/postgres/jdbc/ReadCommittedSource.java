package dev.sessionkeeper.postgres.jdbc;

import dev.sessionkeeper.store.ForwardingSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;
import javax.sql.DataSource;
import org.postgresql.PGConnection;

/**
 * A pool whose connections use {@code READ COMMITTED}, whatever the default of the pool is. The
 * functions of the queues lock a row in one statement and read in the next one, which must see the
 * commit of the previous holder of the lock. They refuse every other level.
 *
 * <p>The level of a physical connection is read once. If the pool has another default, the level is
 * set for each use, which costs a round trip, and the pool restores its own afterwards.
 */
public final class ReadCommittedSource extends ForwardingSource {
  /** Physical connections that the pool provides at this level. */
  private final Set<PGConnection> asWanted =
      Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

  ReadCommittedSource(DataSource pool) {
    super(pool);
  }

  @Override
  protected Connection prepared(Connection connection) throws SQLException {
    try {
      if (!isAsWanted(connection)) {
        connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
      }
      return connection;
    } catch (SQLException | RuntimeException e) {
      connection.close();
      throw e;
    }
  }

  private boolean isAsWanted(Connection connection) throws SQLException {
    if (!connection.isWrapperFor(PGConnection.class)) {
      return isReadCommitted(connection);
    }
    var physical = connection.unwrap(PGConnection.class);
    if (asWanted.contains(physical)) {
      return true;
    }
    return isReadCommitted(connection) && asWanted.add(physical);
  }

  private static boolean isReadCommitted(Connection connection) throws SQLException {
    return connection.getTransactionIsolation() == Connection.TRANSACTION_READ_COMMITTED;
  }
}
