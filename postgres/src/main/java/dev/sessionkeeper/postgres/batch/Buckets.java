package dev.sessionkeeper.postgres.batch;

import dev.sessionkeeper.SessionId;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * Divides sessions into 64 buckets by a hash of their ids, as the function {@code keeper.bucket_of}
 * does. A set of buckets is a number with one bit for each.
 */
public final class Buckets {
  static final long NONE = 0;
  public static final long ALL = -1;

  private static final int COUNT = 64;

  private Buckets() {}

  /** Returns the bucket of a session, from 0 to 63. */
  public static int of(SessionId session) {
    try {
      var name = session.value().getBytes(StandardCharsets.UTF_8);
      return MessageDigest.getInstance("SHA-256").digest(name)[0] & (COUNT - 1);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("Every Java platform has SHA-256", e);
    }
  }

  /** Returns the set of one bucket. */
  public static long only(int bucket) {
    return 1L << bucket;
  }

  /** Returns whether the set contains the bucket of a session. */
  public static boolean have(long buckets, SessionId session) {
    return buckets == ALL || (buckets >>> of(session) & 1) == 1;
  }
}
