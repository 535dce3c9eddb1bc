package dev.sessionkeeper.registry.usage;

import dev.sessionkeeper.Lease;
import dev.sessionkeeper.store.Database;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * The outbox: the usage batches of a tenant, which one node at a time delivers under a lease with
 * an epoch.
 *
 * <p>I1: every write about a batch carries the epoch of its tenant's lease. I2: batches of a tenant
 * are delivered in the order of their numbers.
 *
 * <p>A lease that was written in the future is free: the database's clock was set back, and the
 * tenant would otherwise wait until the clock gets there again. The epoch fences an owner that
 * still delivers.
 */
record DeliveryLeases(Database database, UsageOptions options) {
  private static final int AT_ONCE = 16;

  private static final String CLAIM =
      """
      WITH due AS MATERIALIZED (
        SELECT tenant_id
          FROM keeper.usage_lane c
         WHERE (c.touched_at > keeper.now() + interval '1 second'
                OR (c.due_at <= keeper.now() AND (c.owner IS NULL OR c.lease_until < keeper.now())))
           AND EXISTS (SELECT FROM keeper.usage_batch b
                        WHERE b.tenant_id = c.tenant_id AND b.state = 'pending')
         ORDER BY c.due_at
         LIMIT ?
           FOR UPDATE OF c SKIP LOCKED)
      UPDATE keeper.usage_lane l
         SET owner = ?, epoch = l.epoch + 1, touched_at = keeper.now(),
             lease_until = keeper.now() + ? * interval '1 millisecond'
        FROM due
       WHERE l.tenant_id = due.tenant_id
      RETURNING l.tenant_id, l.epoch, l.lease_until, l.failures
      """; // usage_lane_pkey, usage_batch_pending (tenant_id, batch_no)

  private static final String NEXT =
      """
      SELECT batch_id, batch_no, records, packed_body, body_sha256, refusals
        FROM keeper.usage_batch
       WHERE tenant_id = ? AND state = 'pending'
       ORDER BY batch_no
       LIMIT %d
      """
          .formatted(AT_ONCE); // usage_batch_pending (tenant_id, batch_no)

  private static final String SETTLE =
      """
      WITH lane AS (
        UPDATE keeper.usage_lane
           SET lease_until = keeper.now() + ? * interval '1 millisecond', failures = 0,
               touched_at = keeper.now()
         WHERE tenant_id = ? AND owner = ? AND epoch = ?
        RETURNING tenant_id)
      UPDATE keeper.usage_batch b
         SET state = ?, attempts = attempts + 1, last_error = ?, settled_at = keeper.now()
        FROM lane
       WHERE b.batch_id = ? AND b.tenant_id = lane.tenant_id AND b.state = 'pending'
      """; // usage_lane_pkey, usage_batch_pkey

  private static final String FAIL =
      """
      WITH lane AS (
        UPDATE keeper.usage_lane
           SET owner = NULL, due_at = keeper.now() + ? * interval '1 millisecond',
               failures = failures + 1, touched_at = keeper.now()
         WHERE tenant_id = ? AND owner = ? AND epoch = ?
        RETURNING tenant_id)
      UPDATE keeper.usage_batch b
         SET attempts = attempts + 1, refusals = refusals + ?, last_error = ?
        FROM lane
       WHERE b.batch_id = ? AND b.tenant_id = lane.tenant_id AND b.state = 'pending'
      """;

  private static final String RELEASE =
      "UPDATE keeper.usage_lane SET owner = NULL WHERE tenant_id = ? AND owner = ? AND epoch = ?";

  /**
   * A tenant whose batches this node may deliver.
   *
   * @param failures how many posts have failed in a row
   */
  record Claim(UUID tenant, Lease lease, int failures) {}

  /** A batch to post. */
  record Outgoing(UUID id, long number, int records, byte[] body, byte[] sha256, int refusals) {}

  List<Claim> claim(int limit) {
    return database.inStatement(
        connection -> {
          try (var statement = connection.prepareStatement(CLAIM)) {
            statement.setInt(1, limit);
            statement.setString(2, options.owner().name());
            statement.setLong(3, options.lease().toMillis());
            try (var rows = statement.executeQuery()) {
              var claims = new ArrayList<Claim>();
              while (rows.next()) {
                claims.add(claim(rows));
              }
              return claims;
            }
          }
        });
  }

  private Claim claim(ResultSet rows) throws SQLException {
    var tenant = rows.getObject(1, UUID.class);
    var until = rows.getObject(3, OffsetDateTime.class).toInstant();
    var lease = new Lease("usage of " + tenant, options.owner(), rows.getLong(2), until);
    return new Claim(tenant, lease, rows.getInt(4));
  }

  /** Returns the next batches of the claim, the lowest number first. */
  List<Outgoing> next(Claim claim) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(NEXT)) {
            statement.setObject(1, claim.tenant());
            try (var rows = statement.executeQuery()) {
              var batches = new ArrayList<Outgoing>();
              while (rows.next()) {
                batches.add(
                    new Outgoing(
                        rows.getObject(1, UUID.class),
                        rows.getLong(2),
                        rows.getInt(3),
                        PackedBody.unpack(rows.getBytes(4)),
                        rows.getBytes(5),
                        rows.getInt(6)));
              }
              return batches;
            }
          }
        });
  }

  /**
   * Records that the receiver has the batch, and renews the lease. Returns false if this node no
   * longer holds the claim.
   */
  boolean acknowledge(Claim claim, Outgoing batch) {
    return settle(claim, batch, "acknowledged", "");
  }

  /**
   * Records that the receiver refused the batch for good, and renews the lease; the claim continues
   * with the next one.
   */
  boolean setAside(Claim claim, Outgoing batch, String why) {
    return settle(claim, batch, "dead", why);
  }

  private boolean settle(Claim claim, Outgoing batch, String state, String error) {
    return database.inStatement(
        connection -> {
          try (var statement = connection.prepareStatement(SETTLE)) {
            statement.setLong(1, options.lease().toMillis());
            statement.setObject(2, claim.tenant());
            statement.setString(3, claim.lease().owner().name());
            statement.setLong(4, claim.lease().epoch());
            statement.setString(5, state);
            statement.setString(6, error.isEmpty() ? null : error);
            statement.setObject(7, batch.id());
            return statement.executeUpdate() == 1;
          }
        });
  }

  /** Releases the lease on the tenant's deliveries until the pause is over. */
  boolean fail(Claim claim, Outgoing batch, boolean refused, String why, Duration pause) {
    return database.inStatement(
        connection -> {
          try (var statement = connection.prepareStatement(FAIL)) {
            statement.setLong(1, pause.toMillis());
            statement.setObject(2, claim.tenant());
            statement.setString(3, claim.lease().owner().name());
            statement.setLong(4, claim.lease().epoch());
            statement.setInt(5, refused ? 1 : 0);
            statement.setString(6, why);
            statement.setObject(7, batch.id());
            return statement.executeUpdate() == 1;
          }
        });
  }

  void release(Claim claim) {
    database.inStatement(
        connection -> {
          try (var statement = connection.prepareStatement(RELEASE)) {
            statement.setObject(1, claim.tenant());
            statement.setString(2, claim.lease().owner().name());
            statement.setLong(3, claim.lease().epoch());
            return statement.executeUpdate();
          }
        });
  }
}
