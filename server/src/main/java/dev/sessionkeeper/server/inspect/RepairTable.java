package dev.sessionkeeper.server.inspect;

import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.spi.DeadLetter;
import dev.sessionkeeper.store.Database;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** Stores the payloads that messages had before a repair. They are kept for good. */
final class RepairTable {
  private static final String KEEP =
      """
      INSERT INTO keeper.repaired_body (dead_letter, message_id, queue, form, content_type, body, digest, actor)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      """;
  private static final String LIST =
      """
      SELECT id, actor, at, encode(digest, 'hex'), octet_length(body),
             CASE WHEN form < 2 THEN convert_from(substring(body FROM 1 FOR 65536), 'UTF8') END
        FROM keeper.repaired_body WHERE queue = ? AND message_id = ? ORDER BY id DESC LIMIT 20
      """; // repaired_body_message (queue, message_id, id)

  private static final int TEXT = 0;
  private static final int BINARY = 2;

  private final Database database;

  RepairTable(Database database) {
    this.database = database;
  }

  /** A former payload; its text is blank if it is not text. */
  record Original(long id, String actor, Instant at, String sha256, long size, String text) {}

  void keep(Connection connection, QueueName queue, DeadLetter letter, String actor)
      throws SQLException {
    var payload = letter.message().payload();
    try (var statement = connection.prepareStatement(KEEP)) {
      statement.setLong(1, Long.parseLong(letter.id()));
      statement.setString(2, letter.message().id().value());
      statement.setString(3, queue.value());
      statement.setInt(4, payload.form() == Payload.Form.BYTES ? BINARY : TEXT);
      statement.setString(5, payload.contentType());
      statement.setBytes(6, payload.unsafeBytes());
      statement.setBytes(7, digest(payload));
      statement.setString(8, actor);
      statement.executeUpdate();
    }
  }

  List<Original> originals(QueueName queue, DeadLetter letter) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(LIST)) {
            statement.setString(1, queue.value());
            statement.setString(2, letter.message().id().value());
            try (var rows = statement.executeQuery()) {
              var found = new ArrayList<Original>();
              while (rows.next()) {
                var text = rows.getString(6);
                found.add(
                    new Original(
                        rows.getLong(1),
                        rows.getString(2),
                        rows.getObject(3, OffsetDateTime.class).toInstant(),
                        rows.getString(4),
                        rows.getLong(5),
                        text == null ? "" : text));
              }
              return found;
            }
          }
        });
  }

  static byte[] digest(Payload payload) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(payload.unsafeBytes());
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("Every Java platform has SHA-256", e);
    }
  }

  static String hex(Payload payload) {
    return HexFormat.of().formatHex(digest(payload));
  }
}
