package dev.sessionkeeper.embedded;

import dev.sessionkeeper.KeeperException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;

/** The address on which a database listens. */
sealed interface Endpoint {

  /** Returns the PostgreSQL settings that make the database listen here. */
  Map<String, String> settings();

  /** Returns the JDBC URL of a database, without credentials. */
  String jdbcUrl(String database);

  /** Returns a description for the log. */
  String description();

  /**
   * A socket in a folder that only the database's user and root can enter.
   *
   * @param folder must be short: the operating system allows about a hundred characters
   */
  record Unix(Path folder) implements Endpoint {
    /** Part of the socket's name; no port is opened. */
    private static final int PORT = 5432;

    /** The longest path of a socket that both Linux and macOS allow, less one. */
    static final int LONGEST_PATH = 102;

    @Override
    public Map<String, String> settings() {
      return Map.of(
          "listen_addresses",
          "",
          "unix_socket_directories",
          folder.toString(),
          "unix_socket_permissions",
          "0700",
          "port",
          Integer.toString(PORT));
    }

    @Override
    public String jdbcUrl(String database) {
      return "jdbc:postgresql://localhost/"
          + database
          + "?socketFactory="
          + UnixSocketFactory.class.getName()
          + "&socketFactoryArg="
          + URLEncoder.encode(socket().toString(), StandardCharsets.UTF_8)
          + "&sslmode=disable&gssEncMode=disable";
    }

    @Override
    public String description() {
      return socket().toString();
    }

    Path socket() {
      return socketIn(folder);
    }

    static Path socketIn(Path folder) {
      return folder.resolve(".s.PGSQL." + PORT);
    }
  }

  /**
   * A port on the loopback address, which every local user can reach. The client requires SCRAM, so
   * that another program on this port cannot learn the password.
   */
  record Tcp(int port) implements Endpoint {

    static Tcp onFreePort() {
      try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
        return new Tcp(socket.getLocalPort());
      } catch (IOException e) {
        throw new KeeperException.Misconfigured("No free port on the loopback address", e);
      }
    }

    @Override
    public Map<String, String> settings() {
      return Map.of(
          "listen_addresses",
          "127.0.0.1",
          "unix_socket_directories",
          "",
          "port",
          Integer.toString(port));
    }

    @Override
    public String jdbcUrl(String database) {
      return "jdbc:postgresql://127.0.0.1:"
          + port
          + "/"
          + database
          + "?requireAuth=scram-sha-256&sslmode=disable&gssEncMode=disable";
    }

    @Override
    public String description() {
      return "port " + port;
    }
  }
}
