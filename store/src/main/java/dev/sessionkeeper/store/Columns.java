package dev.sessionkeeper.store;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;

/**
 * Gives many rows to one statement: sets one array parameter per column, one after the other, for
 * {@code unnest}.
 */
public final class Columns<T> {
  private final PreparedStatement statement;
  private final List<T> rows;
  private int index;

  /** The columns are the first parameters of the statement. */
  public Columns(PreparedStatement statement, List<T> rows) {
    this(statement, rows, 1);
  }

  /** The columns are parameters from this one on. */
  public Columns(PreparedStatement statement, List<T> rows, int first) {
    this.statement = statement;
    this.rows = rows;
    this.index = first - 1;
  }

  /** A column of any type; its values travel as text. */
  public void add(String type, Function<T, ? extends @Nullable Object> value) throws SQLException {
    var values = new Object[rows.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = value.apply(rows.get(i));
    }
    set(type, values);
  }

  public void addInts(ToIntFunction<T> value) throws SQLException {
    var values = new int[rows.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = value.applyAsInt(rows.get(i));
    }
    set("int4", values);
  }

  public void addLongs(ToLongFunction<T> value) throws SQLException {
    var values = new long[rows.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = value.applyAsLong(rows.get(i));
    }
    set("int8", values);
  }

  public void addBytes(Function<T, byte[]> value) throws SQLException {
    var values = new byte[rows.size()][];
    for (int i = 0; i < values.length; i++) {
      values[i] = value.apply(rows.get(i));
    }
    set("bytea", values);
  }

  // The driver's own call takes arrays of primitives, which travel in binary form.
  private void set(String type, Object values) throws SQLException {
    var driver = statement.getConnection().unwrap(PGConnection.class);
    statement.setArray(++index, driver.createArrayOf(type, values));
  }
}
