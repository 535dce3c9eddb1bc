package dev.sessionkeeper.registry.usage;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Ledger rows of one tenant as the exact bytes that are sent, however often.
 *
 * <p>The id is derived from tenant and number, so every node that builds the batch builds the same
 * bytes.
 */
record FrozenBatch(
    UUID batchId,
    UUID tenantId,
    long number,
    int records,
    BigInteger wmicros,
    BigDecimal units,
    byte[] body,
    byte[] sha256) {
  private static final UUID NAMESPACE = UUID.fromString("0f6b9d1c-6a1f-4f57-9a4f-1d7a3f0b8c52");
  private static final DateTimeFormatter MICROS =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);

  static FrozenBatch of(UUID tenant, long number, List<LedgerRow> rows) {
    var body = json(tenant, rows).getBytes(StandardCharsets.US_ASCII);
    return new FrozenBatch(
        idOf(tenant, number),
        tenant,
        number,
        rows.size(),
        rows.stream().map(LedgerRow::wmicros).reduce(BigInteger.ZERO, BigInteger::add),
        rows.stream().map(LedgerRow::units).reduce(BigDecimal.ZERO, BigDecimal::add),
        body,
        digest("SHA-256").digest(body));
  }

  /** Returns a name-based id of version 5. */
  static UUID idOf(UUID tenant, long number) {
    var name = ByteBuffer.allocate(40);
    name.putLong(NAMESPACE.getMostSignificantBits()).putLong(NAMESPACE.getLeastSignificantBits());
    name.putLong(tenant.getMostSignificantBits()).putLong(tenant.getLeastSignificantBits());
    var hash = ByteBuffer.wrap(digest("SHA-1").digest(name.putLong(number).array()));
    long high = (hash.getLong() & ~0xF000L) | 0x5000L;
    long low = (hash.getLong() & ~(3L << 62)) | (1L << 63);
    return new UUID(high, low);
  }

  // Written by hand: ids, numbers and times need no escaping, and the bytes must not depend on a
  // library's version.
  private static String json(UUID tenant, List<LedgerRow> rows) {
    var text = new StringBuilder(rows.size() * 384).append('[');
    var times = new Times();
    var tenantText = tenant.toString();
    for (var row : rows) {
      var session = row.sessionId().toString();
      text.append(text.length() == 1 ? "" : ",")
          .append("{\"userObjectId\":\"")
          .append(row.userObjectId())
          .append("\",\"tenantObjectId\":\"")
          .append(tenantText)
          .append("\",\"capacityId\":\"")
          .append(row.capacityId())
          .append("\",\"usage\":")
          .append(row.units().toPlainString())
          .append(",\"sessionId\":\"")
          .append(session)
          .append("\",\"recordId\":\"")
          .append(session)
          .append(':')
          .append(row.seq())
          .append("\",\"from\":\"");
      text.append(times.text(row.from()));
      text.append("\",\"to\":\"");
      text.append(times.text(row.to()));
      text.append("\",\"sessionKind\":").append(row.kind());
      text.append(",\"type\":\"").append(row.type().text()).append('"');
      row.corrects()
          .ifPresent(
              seq ->
                  text.append(",\"corrects\":\"")
                      .append(session)
                      .append(':')
                      .append(seq)
                      .append('"'));
      text.append('}');
    }
    return text.append(']').toString();
  }

  /** Caches formatted instants, because most sessions of a batch begin and end at the same ones. */
  private static final class Times {
    private final Map<Instant, String> known = new HashMap<>();

    String text(Instant at) {
      return known.computeIfAbsent(at, MICROS::format);
    }
  }

  private static MessageDigest digest(String algorithm) {
    try {
      return MessageDigest.getInstance(algorithm);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("Every Java platform has " + algorithm, e);
    }
  }
}
