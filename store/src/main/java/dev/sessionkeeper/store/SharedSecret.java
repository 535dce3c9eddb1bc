package dev.sessionkeeper.store;

import java.security.SecureRandom;

/** The random key that all servers of one store share. The first server creates it. */
public final class SharedSecret {
  private static final int BYTES = 32;
  private static final String NAME = "server";

  // A concurrent second server waits for the first one's commit and then reads its key.
  private static final String CREATE =
      "INSERT INTO keeper.server_secret (name, bytes) VALUES (?, ?) ON CONFLICT (name) DO NOTHING";
  private static final String READ = "SELECT bytes FROM keeper.server_secret WHERE name = ?";

  private SharedSecret() {}

  /** Creates a key that is not stored. */
  public static byte[] random() {
    var bytes = new byte[BYTES];
    new SecureRandom().nextBytes(bytes);
    return bytes;
  }

  /** Reads the key of this store, and creates it if there is none. The tables must be migrated. */
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
