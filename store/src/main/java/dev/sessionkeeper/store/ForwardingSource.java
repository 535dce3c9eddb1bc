package dev.sessionkeeper.store;

import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.logging.Logger;
import javax.sql.DataSource;

/** A data source whose connections come from another one and are prepared by a subclass. */
public abstract class ForwardingSource implements DataSource {
  private final DataSource source;

  protected ForwardingSource(DataSource source) {
    this.source = source;
  }

  /** Prepares a connection; closes it if that fails. */
  protected abstract Connection prepared(Connection own) throws SQLException;

  @Override
  public final Connection getConnection() throws SQLException {
    return prepared(source.getConnection());
  }

  @Override
  public final Connection getConnection(String user, String password) throws SQLException {
    return prepared(source.getConnection(user, password));
  }

  @Override
  public final PrintWriter getLogWriter() throws SQLException {
    return source.getLogWriter();
  }

  @Override
  public final void setLogWriter(PrintWriter out) throws SQLException {
    source.setLogWriter(out);
  }

  @Override
  public final void setLoginTimeout(int seconds) throws SQLException {
    source.setLoginTimeout(seconds);
  }

  @Override
  public final int getLoginTimeout() throws SQLException {
    return source.getLoginTimeout();
  }

  @Override
  public final Logger getParentLogger() throws SQLFeatureNotSupportedException {
    return source.getParentLogger();
  }

  @Override
  public final <T> T unwrap(Class<T> type) throws SQLException {
    return type.isInstance(source) ? type.cast(source) : source.unwrap(type);
  }

  @Override
  public final boolean isWrapperFor(Class<?> type) throws SQLException {
    return type.isInstance(source) || source.isWrapperFor(type);
  }
}
