package dev.sessionkeeper.server.gateway;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Hands many rows to one statement: an array for each column, in the order of the calls. */
final class ColumnArrays<R> {
  private final Connection connection;
  private final PreparedStatement statement;
  private final List<R> rows;
  private final AtomicInteger index;

  ColumnArrays(Connection connection, PreparedStatement statement, List<R> rows) {
    this(connection, statement, rows, new AtomicInteger());
  }

  private ColumnArrays(
      Connection connection, PreparedStatement statement, List<R> rows, AtomicInteger index) {
    this.connection = connection;
    this.statement = statement;
    this.rows = rows;
    this.index = index;
  }

  /** Goes on with the columns of other rows. */
  <S> ColumnArrays<S> of(List<S> others) {
    return new ColumnArrays<>(connection, statement, others, index);
  }

  /** Hands over one text. */
  ColumnArrays<R> text(String value) throws SQLException {
    statement.setString(index.incrementAndGet(), value);
    return this;
  }

  /** Hands over texts that belong to no row. */
  ColumnArrays<R> texts(Collection<String> values) throws SQLException {
    return put("text", values.toArray(String[]::new));
  }

  ColumnArrays<R> texts(Function<R, @Nullable String> column) throws SQLException {
    return put("text", rows.stream().map(column).toArray(String[]::new));
  }

  ColumnArrays<R> uuids(Function<R, @Nullable UUID> column) throws SQLException {
    return put("uuid", rows.stream().map(column).toArray(UUID[]::new));
  }

  ColumnArrays<R> numbers(Function<R, Long> column) throws SQLException {
    return put("int8", rows.stream().map(column).toArray(Long[]::new));
  }

  ColumnArrays<R> bytes(Function<R, byte @Nullable []> column) throws SQLException {
    return put("bytea", rows.stream().map(column).toArray(byte[][]::new));
  }

  private ColumnArrays<R> put(String type, Object[] values) throws SQLException {
    statement.setArray(index.incrementAndGet(), connection.createArrayOf(type, values));
    return this;
  }
}
