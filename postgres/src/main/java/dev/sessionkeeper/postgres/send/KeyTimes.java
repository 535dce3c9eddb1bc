package dev.sessionkeeper.postgres.send;

import dev.sessionkeeper.postgres.jdbc.SqlArray;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Collection;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** The creation times of keys that begin with their time. */
public final class KeyTimes {
  private static final int MILLIS_SHIFT = 16;

  /** The resolution of times: fine enough for sends to wait for each other. */
  private static final int UNIT_SHIFT = 10;

  private static final int MOST_TIMES = 32;

  /** Stands for all times. Each send of unused ids uses it. */
  private static final long ANY = -1;

  private final TreeSet<Long> times = new TreeSet<>();
  private long from = Long.MAX_VALUE;
  private long to = Long.MIN_VALUE;
  private @Nullable UUID low;
  private @Nullable UUID high;

  private KeyTimes() {}

  static KeyTimes of(Collection<UUID> keys) {
    var all = new KeyTimes();
    keys.stream().filter(MessageKey::isTimed).forEach(all::add);
    return all;
  }

  private void add(UUID key) {
    long millis = key.getMostSignificantBits() >>> MILLIS_SHIFT;
    from = Math.min(from, millis);
    to = Math.max(to, millis);
    times.add(millis >>> UNIT_SHIFT);
    low = low == null || isBefore(key, low) ? key : low;
    high = high == null || isBefore(high, key) ? key : high;
  }

  /** Compares keys as the database does, which is not {@link UUID#compareTo}. */
  private static boolean isBefore(UUID a, UUID b) {
    int first = Long.compareUnsigned(a.getMostSignificantBits(), b.getMostSignificantBits());
    return first < 0
        || (first == 0
            && Long.compareUnsigned(a.getLeastSignificantBits(), b.getLeastSignificantBits()) < 0);
  }

  /** Returns the range from the first to the last millisecond. */
  @Nullable String span() {
    return times.isEmpty() ? null : "[" + from + "," + to + "]";
  }

  /** Sets parameters 14 to 18 of the function. */
  void bind(Connection connection, PreparedStatement statement, IdUse use) throws SQLException {
    boolean areTogether = use == IdUse.FIRST_TOGETHER && times.size() <= MOST_TIMES;
    // An id that is used for the first time, and is remembered with a row of its own, meets no
    // other send.
    boolean meetNobody = times.isEmpty() || (use != IdUse.ANY && !areTogether);
    statement.setBoolean(14, areTogether);
    statement.setArray(15, meetNobody ? null : SqlArray.of(connection, "int8", locks(areTogether)));
    statement.setString(16, span());
    statement.setObject(17, low, java.sql.Types.OTHER);
    statement.setObject(18, high, java.sql.Types.OTHER);
  }

  private long[] locks(boolean areTogether) {
    var each = times.size() > MOST_TIMES ? LongStream.empty() : times.stream().mapToLong(t -> t);
    boolean isAny = areTogether || times.size() > MOST_TIMES;
    return LongStream.concat(each, isAny ? LongStream.of(ANY) : LongStream.empty()).toArray();
  }
}
