package dev.sessionkeeper.store;

import java.security.SecureRandom;

/** The random key that all servers of one store share. The first server creates it. */
public final class SharedSecret {
  private static final int BYTES = 32;
  private static final String NAME = "server";

  // A server that comes second waits for the first one's commit and then reads its key.
  private static final String CREATE =
      "INSERT INTO keeper.server_secret (name, bytes) VALUES (?, ?) ON CONFLICT (name) DO NOTHING";
  private static final String READ = "SELECT bytes FROM keeper.server_secret WHERE name = ?";

  private SharedSecret() {}

  /** Makes a key that no store has. */
  public static byte[] random() {
    var bytes = new byte[BYTES];
    new SecureRandom().nextBytes(bytes);
    return bytes;
  }

  /** Reads the key of this store, and creates it where there is none. The tables are migrated. */
  public static byte[] of(Database database) {
    return database.inTransaction(
        connection -> {
          try (var create = connection.prepareStatement(CREATE)) {
            create.setString(1, NAME);
            create.setBytes(2, random());
            create.executeUpdate();
          }
          try (var read = connection.prepareStatement(READ)) {
            read.setString(1, NAME);
            try (var rows = read.executeQuery()) {
              rows.next();
              return rows.getBytes(1);
            }
          }
        });
  }
}
