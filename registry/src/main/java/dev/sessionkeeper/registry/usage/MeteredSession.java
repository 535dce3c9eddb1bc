package dev.sessionkeeper.registry.usage;

import java.math.BigInteger;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A session's row, locked for metering.
 *
 * @param total weighted microseconds of all its ledger rows, including corrections
 * @param place the physical row, which stays in place while it is locked
 */
record MeteredSession(
    UUID sessionId,
    UUID tenantId,
    UUID userId,
    UUID capacityId,
    int kind,
    int factorMilli,
    long periodMicros,
    Instant meteredThrough,
    BigInteger total,
    int seq,
    Instant expiresAt,
    @Nullable Instant endedAt,
    String place) {
  static final String COLUMNS =
      """
      session_id, tenant_id, user_id, capacity_id, kind, factor_milli, period_micros,
             metered_through, metered_wmicros + adjusted_wmicros AS total, meter_seq, expires_at,
             ended_at, ctid
      """
          .strip();

  static MeteredSession read(ResultSet rows) throws SQLException {
    var ended = rows.getObject(12, OffsetDateTime.class);
    return new MeteredSession(
        rows.getObject(1, UUID.class),
        rows.getObject(2, UUID.class),
        rows.getObject(3, UUID.class),
        rows.getObject(4, UUID.class),
        rows.getInt(5),
        rows.getInt(6),
        rows.getLong(7),
        rows.getObject(8, OffsetDateTime.class).toInstant(),
        rows.getBigDecimal(9).toBigIntegerExact(),
        rows.getInt(10),
        rows.getObject(11, OffsetDateTime.class).toInstant(),
        ended == null ? null : ended.toInstant(),
        rows.getString(13));
  }

  /**
   * Returns the usage from the watermark to the end of the slot, or to the session's end if that is
   * earlier.
   */
  Optional<LedgerRow> usedUntil(Instant slotEnd) {
    var stop = endedAt == null ? expiresAt : endedAt;
    var to = slotEnd.isBefore(stop) ? slotEnd : stop;
    if (!to.isAfter(meteredThrough)) {
      return Optional.empty();
    }
    var used =
        BigInteger.valueOf(ChronoUnit.MICROS.between(meteredThrough, to))
            .multiply(BigInteger.valueOf(factorMilli));
    var units = Units.between(total, total.add(used), periodMicros);
    return Optional.of(
        new LedgerRow(
            sessionId,
            seq + 1,
            LedgerRow.Type.USAGE,
            userId,
            tenantId,
            capacityId,
            kind,
            meteredThrough,
            to,
            used,
            units,
            Optional.empty()));
  }
}
