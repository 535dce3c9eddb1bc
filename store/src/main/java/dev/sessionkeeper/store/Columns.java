package dev.sessionkeeper.store;

import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;

/**
 * Binds array parameters for {@code unnest}: one array per column of many rows, in order; or one
 * list of values.
 */
public final class Columns<T> {
  private final PreparedStatement statement;
  private final List<T> rows;
  private int index;

  /** Creates columns that are the first parameters of the statement. */
  public Columns(PreparedStatement statement, List<T> rows) {
    this(statement, rows, 1);
  }

  /** Creates columns that begin at this parameter. */
  public Columns(PreparedStatement statement, List<T> rows, int first) {
    this.statement = statement;
    this.rows = rows;
    this.index = first - 1;
  }

  /** Adds a column of any type; its values are sent as text. */
  public Columns<T> add(String type, Function<T, ? extends @Nullable Object> value)
      throws SQLException {
    var values = new Object[rows.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = value.apply(rows.get(i));
    }
    bind(type, values);
    return this;
  }

  public Columns<T> addInts(ToIntFunction<T> value) throws SQLException {
    var values = new int[rows.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = value.applyAsInt(rows.get(i));
    }
    bind("int4", values);
    return this;
  }

  public Columns<T> addLongs(ToLongFunction<T> value) throws SQLException {
    var values = new long[rows.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = value.applyAsLong(rows.get(i));
    }
    bind("int8", values);
    return this;
  }

  public Columns<T> addBytes(Function<T, byte @Nullable []> value) throws SQLException {
    var values = new byte[rows.size()][];
    for (int i = 0; i < values.length; i++) {
      values[i] = value.apply(rows.get(i));
    }
    bind("bytea", values);
    return this;
  }

  /** Adds one text that belongs to no row. */
  public Columns<T> addText(String value) throws SQLException {
    statement.setString(++index, value);
    return this;
  }

  /** Adds a list of texts that belong to no row. */
  public Columns<T> addTexts(Collection<String> values) throws SQLException {
    bind("text", values.toArray());
    return this;
  }

  /** Returns the columns of other rows, which follow the columns so far. */
  public <S> Columns<S> of(List<S> others) {
    return new Columns<>(statement, others, index + 1);
  }

  /** Returns an array of these values, for {@code = ANY (?)}. */
  public static Array array(Connection connection, String type, Collection<?> values)
      throws SQLException {
    return driver(connection).createArrayOf(type, values.toArray());
  }

  // The driver's own method sends arrays of primitives in binary form.
  private void bind(String type, Object values) throws SQLException {
    var array = driver(statement.getConnection()).createArrayOf(type, values);
    statement.setArray(++index, array);
  }

  private static PGConnection driver(Connection connection) throws SQLException {
    return connection.unwrap(PGConnection.class);
  }
}
