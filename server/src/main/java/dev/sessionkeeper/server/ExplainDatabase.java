package dev.sessionkeeper.server;

import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.sql.SQLException;
import java.util.Optional;
import javax.net.ssl.SSLException;

/** Explains why a database cannot be used: PostgreSQL's own words, and what to do. */
final class ExplainDatabase {
  private static final String PREFIX = "jdbc:postgresql:";

  private ExplainDatabase() {}

  /** Returns why there is no connection, in one or two sentences. */
  static String connecting(String url, Throwable failure) {
    return "Cannot connect to " + hosts(url) + ": " + reason(url, failure);
  }

  private static String reason(String url, Throwable failure) {
    if (find(UnknownHostException.class, failure).isPresent()) {
      return "the host is unknown. Check the host name in store.url.";
    }
    if (find(ConnectException.class, failure).isPresent()) {
      return "connection refused. Start PostgreSQL there, or check host and port in store.url.";
    }
    if (find(NoRouteToHostException.class, failure).isPresent()) {
      return "no route to the host. Check the network, and the host in store.url.";
    }
    if (find(SocketTimeoutException.class, failure).isPresent()) {
      return "it did not answer in time. Check the network, and the host in store.url.";
    }
    var tls = find(SSLException.class, failure);
    if (tls.isPresent()) {
      return "TLS failed: "
          + said(tls.get())
          + ". Check sslmode, sslrootcert and sslcert in store.url.";
    }
    return find(SQLException.class, failure)
        .map(e -> said(e) + ". " + advice(state(e), url))
        .orElseGet(() -> said(failure) + ". Check store.url.");
  }

  private static String advice(String state, String url) {
    return switch (state) {
      case "28P01" -> "Check store.user and store.password.";
      case "28000" -> "Check store.user, store.password and pg_hba.conf of the database.";
      case "3D000" -> "Create the database, or check its name in store.url.";
      case "53300" -> "Lower store.pool_size, or raise max_connections of the database.";
      case "57P03" -> "Wait until the database has started.";
      case "08P01", "08004" -> "Check store.url, store.user and store.password.";
      default -> url.contains("ssl") ? "Check store.url and its TLS settings." : "Check store.url.";
    };
  }

  /** Returns why a write failed, in one or two sentences. */
  static String writing(SQLException failure) {
    return switch (state(failure)) {
      case "53100" ->
          "The database cannot write: " + said(failure) + ". Free space on the disk of its data.";
      case "25006" ->
          "The database takes no writes: "
              + said(failure)
              + ". Connect to the primary server, not to a standby.";
      default -> "The database cannot write: " + said(failure) + ".";
    };
  }

  /** Returns the servers of a URL, without its parameters, which may hold a password. */
  static String hosts(String url) {
    var rest = url.startsWith(PREFIX) ? url.substring(PREFIX.length()) : url;
    if (!rest.startsWith("//")) {
      return "localhost:5432";
    }
    var hosts = rest.substring(2).split("[/?]", 2)[0];
    if (hosts.isEmpty()) {
      return "localhost:5432";
    }
    boolean hasPort = hosts.matches(".*:\\d+");
    return hasPort ? hosts : hosts + ":5432";
  }

  private static String state(SQLException failure) {
    return Optional.ofNullable(failure.getSQLState()).orElse("");
  }

  /** Returns the first line of the failure's message, without its severity and final full stop. */
  private static String said(Throwable failure) {
    var message = Optional.ofNullable(failure.getMessage()).orElse(failure.toString());
    return message
        .lines()
        .findFirst()
        .orElse("")
        .replaceFirst("^[A-Z]+: ", "")
        .replaceAll("\\.$", "");
  }

  private static <T extends Throwable> Optional<T> find(Class<T> type, Throwable failure) {
    for (Throwable at = failure; at != null; at = at.getCause()) {
      if (type.isInstance(at)) {
        return Optional.of(type.cast(at));
      }
    }
    return Optional.empty();
  }
}
