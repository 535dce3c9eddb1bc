package dev.sessionkeeper.store;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Seals audit rows into a chain of hashes, so that a changed, removed or inserted row is detected.
 *
 * <p>The hash of a row is SHA-256 over the previous hash and the row's texts, each as {@code
 * length:text,} in UTF-8. I1: sequence numbers have no gap. I2: only {@link #seal} appends, under
 * the lock of the row of {@code audit_chain}. Unsealed rows are not protected yet; an export seals
 * first.
 */
public final class AuditChain {
  private static final int AT_ONCE = 1_000;
  // The API's time format: the database keeps microseconds.
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSS'Z'", Locale.ROOT)
          .withZone(ZoneOffset.UTC);

  private static final String LOCK =
      "SELECT last_seq, last_hash FROM keeper.audit_chain FOR UPDATE";
  private static final String COLUMNS =
      "id, at, actor, source, action, target, reason, details, count, seq, hash";
  private static final String UNSEALED =
      "SELECT " + COLUMNS + " FROM keeper.audit WHERE seq IS NULL ORDER BY id LIMIT ?";
  // audit_unsealed
  private static final String SEALED =
      "SELECT " + COLUMNS + " FROM keeper.audit WHERE seq > ? ORDER BY seq LIMIT ?"; // audit_seq
  private static final String SEAL = "UPDATE keeper.audit SET seq = ?, hash = ? WHERE id = ?";
  private static final String EXTEND = "UPDATE keeper.audit_chain SET last_seq = ?, last_hash = ?";
  private static final String ENDS =
      "SELECT forgotten, forgot_hash, last_seq, last_hash FROM keeper.audit_chain";
  private static final String FORGET =
      """
      WITH locked AS (SELECT 1 FROM keeper.audit_chain FOR UPDATE),
           old AS (SELECT a.seq, a.hash, a.at FROM keeper.audit a, locked
                    WHERE a.seq IS NOT NULL ORDER BY a.seq LIMIT ?),
           ends AS (SELECT min(seq) AS first_kept FROM old WHERE at >= clock_timestamp() - ? * interval '1 second'),
           gone AS (DELETE FROM keeper.audit a USING old, ends
                     WHERE a.seq = old.seq AND (ends.first_kept IS NULL OR a.seq < ends.first_kept)
                 RETURNING a.seq, a.hash),
           newest AS (SELECT seq, hash FROM gone ORDER BY seq DESC LIMIT 1),
           moved AS (UPDATE keeper.audit_chain c SET forgotten = n.seq, forgot_hash = n.hash FROM newest n)
      SELECT count(*) FROM gone
      """; // audit_seq

  private AuditChain() {}

  /**
   * A sealed row.
   *
   * @param seq its number in the chain, from 1
   * @param previous the previous hash; empty for the first row
   */
  public record Link(long seq, AuditLog.Row row, byte[] previous, byte[] hash) {}

  /** The result of verifying the chain. */
  public sealed interface Verdict {
    /**
     * Every hash matches.
     *
     * @param forgotten how many rows retention has removed from the front
     * @param last the hash of the newest row; store it elsewhere to prove later that no row was cut
     *     off
     */
    record Intact(long forgotten, long rows, byte[] last) implements Verdict {}

    /** The first row that does not match. */
    record Broken(long seq, String why) implements Verdict {}
  }

  /** Seals up to a thousand rows and returns how many there were. */
  public static int seal(Connection connection) throws SQLException {
    long seq;
    byte[] hash;
    try (var statement = connection.createStatement();
        var end = statement.executeQuery(LOCK)) {
      end.next();
      seq = end.getLong(1);
      hash = end.getBytes(2);
    }
    var rows = read(connection, UNSEALED, AT_ONCE);
    try (var statement = connection.prepareStatement(SEAL)) {
      for (var stored : rows) {
        hash = hash(hash, ++seq, stored.row());
        statement.setLong(1, seq);
        statement.setBytes(2, hash);
        statement.setLong(3, stored.row().id());
        statement.addBatch();
      }
      statement.executeBatch();
    }
    try (var statement = connection.prepareStatement(EXTEND)) {
      statement.setLong(1, seq);
      statement.setBytes(2, hash);
      statement.executeUpdate();
    }
    return rows.size();
  }

  /** Returns the links after a number, in order. */
  public static List<Link> after(Connection connection, long seq, int limit) throws SQLException {
    var ends = ends(connection);
    byte[] previous = seq <= ends.forgotten() ? ends.forgotHash() : hashOf(connection, seq);
    var links = new ArrayList<Link>();
    for (var stored : read(connection, SEALED, seq, limit)) {
      links.add(new Link(stored.seq(), stored.row(), previous, stored.hash()));
      previous = stored.hash();
    }
    return links;
  }

  /** Recomputes every hash. Reads the whole chain, a thousand rows at a time. */
  public static Verdict verify(Connection connection) throws SQLException {
    var ends = ends(connection);
    long seq = ends.forgotten();
    byte[] hash = ends.forgotHash();
    List<Stored> rows;
    do {
      rows = read(connection, SEALED, seq, AT_ONCE);
      for (var stored : rows) {
        if (stored.seq() != seq + 1) {
          return new Verdict.Broken(seq + 1, "the row is missing");
        }
        hash = hash(hash, stored.seq(), stored.row());
        if (!MessageDigest.isEqual(hash, stored.hash())) {
          return new Verdict.Broken(stored.seq(), "the row does not fit its hash");
        }
        seq = stored.seq();
      }
    } while (rows.size() == AT_ONCE);
    if (seq < ends.lastSeq()) {
      return new Verdict.Broken(seq + 1, "the row is missing");
    }
    return new Verdict.Intact(ends.forgotten(), seq - ends.forgotten(), hash);
  }

  /** Removes older sealed rows from the front, at most {@code limit}; returns how many. */
  public static int forget(Connection connection, Duration age, int limit) throws SQLException {
    try (var statement = connection.prepareStatement(FORGET)) {
      statement.setInt(1, limit);
      statement.setLong(2, age.toSeconds());
      try (var rows = statement.executeQuery()) {
        rows.next();
        return rows.getInt(1);
      }
    }
  }

  /** Returns the hash of a row that follows another one. */
  public static byte[] hash(byte[] previous, long seq, AuditLog.Row row) {
    var entry = row.entry();
    var text = new ByteArrayOutputStream();
    text.writeBytes(previous);
    for (var part :
        List.of(
            Long.toString(seq),
            TIME.format(row.at()),
            entry.actor().name(),
            entry.actor().source(),
            entry.action(),
            entry.target(),
            entry.reason(),
            entry.details(),
            Integer.toString(entry.count()))) {
      var bytes = part.getBytes(StandardCharsets.UTF_8);
      text.writeBytes((bytes.length + ":").getBytes(StandardCharsets.UTF_8));
      text.writeBytes(bytes);
      text.write(',');
    }
    try {
      return MessageDigest.getInstance("SHA-256").digest(text.toByteArray());
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("Every Java platform has SHA-256", e);
    }
  }

  private record Stored(long seq, AuditLog.Row row, byte[] hash) {}

  private record Ends(long forgotten, byte[] forgotHash, long lastSeq, byte[] lastHash) {}

  private static Ends ends(Connection connection) throws SQLException {
    try (var statement = connection.createStatement();
        var row = statement.executeQuery(ENDS)) {
      row.next();
      return new Ends(row.getLong(1), row.getBytes(2), row.getLong(3), row.getBytes(4));
    }
  }

  private static byte[] hashOf(Connection connection, long seq) throws SQLException {
    try (var statement =
        connection.prepareStatement("SELECT hash FROM keeper.audit WHERE seq = ?")) {
      statement.setLong(1, seq);
      try (var row = statement.executeQuery()) {
        return row.next() ? row.getBytes(1) : new byte[0];
      }
    }
  }

  private static List<Stored> read(Connection connection, String sql, long... values)
      throws SQLException {
    try (var statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < values.length; i++) {
        statement.setLong(i + 1, values[i]);
      }
      try (var rows = statement.executeQuery()) {
        var found = new ArrayList<Stored>();
        while (rows.next()) {
          found.add(stored(rows));
        }
        return found;
      }
    }
  }

  private static Stored stored(ResultSet rows) throws SQLException {
    return new Stored(rows.getLong("seq"), AuditLog.row(rows), bytes(rows));
  }

  private static byte[] bytes(ResultSet rows) throws SQLException {
    var hash = rows.getBytes("hash");
    return hash == null ? new byte[0] : hash;
  }
}
