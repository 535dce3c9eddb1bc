package dev.sessionkeeper.server;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.server.config.ConfigSources;
import dev.sessionkeeper.server.config.InvalidConfig;
import dev.sessionkeeper.server.http.EndOnOutOfMemory;
import dev.sessionkeeper.time.TimeSource;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs a server in the foreground until the process is told to end. */
public final class Serve {
  /** The flags are wrong (sysexits EX_USAGE). */
  public static final int EXIT_USAGE = 64;

  /** The configuration is wrong (sysexits EX_CONFIG). */
  public static final int EXIT_CONFIG = 78;

  /** The process ran out of memory, and ended without closing anything. */
  public static final int EXIT_OUT_OF_MEMORY = EndOnOutOfMemory.EXIT_CODE;

  /** The server could not start (sysexits EX_UNAVAILABLE). */
  public static final int EXIT_UNAVAILABLE = 69;

  private static final String DEFAULT_ADDRESS = "http://127.0.0.1:8080";
  private static final Logger log = LoggerFactory.getLogger(Serve.class);

  private final PrintStream out;
  private final PrintStream err;

  public Serve(PrintStream out, PrintStream err) {
    this.out = out;
    this.err = err;
  }

  /**
   * Takes {@code --config}, {@code --host}, {@code --port} and {@code --data}, each with a value.
   */
  public static void main(String[] args) {
    var flags = new LinkedHashMap<String, String>();
    Optional<Path> file = Optional.empty();
    for (int i = 0; i < args.length; i += 2) {
      var value = i + 1 < args.length ? args[i + 1] : "";
      switch (args[i]) {
        case "--config" -> file = Optional.of(Path.of(value));
        case "--host" -> flags.put("server.host", value);
        case "--port" -> flags.put("server.port", value);
        case "--data" -> flags.put("store.data", Path.of(value).toAbsolutePath().toString());
        default -> {
          System.err.println(
              "Unknown flag " + args[i] + "; there are --config, --host, --port, --data");
          System.exit(EXIT_USAGE);
        }
      }
    }
    System.exit(new Serve(System.out, System.err).run(file, System.getenv(), flags));
  }

  /**
   * Starts the server, prints its address, and waits for the end.
   *
   * @param flags values by key path, such as {@code server.port}; they go before file and
   *     environment
   * @return the exit code
   */
  public int run(Optional<Path> file, Map<String, String> environment, Map<String, String> flags) {
    EndOnOutOfMemory.watchAllThreads();
    Supplier<ConfigSources> sources = () -> ConfigSources.of(file, environment, flags);
    try {
      var config = ReadConfig.from(sources.get());
      config.warnings().forEach(warning -> err.println("Warning: " + warning));
      waitFor(KeeperServer.start(config, sources, TimeSource.system()));
      return 0;
    } catch (InvalidConfig e) {
      int count = e.errors().size();
      err.println((count == 1 ? "1 error" : count + " errors") + " found in the configuration:");
      e.errors().forEach(error -> err.println("  " + error));
      return EXIT_CONFIG;
    } catch (KeeperException e) {
      err.println(String.valueOf(e.getMessage()).replaceFirst("^\\[SK-\\d+] ", ""));
      log.debug("The start failed", e);
      return EXIT_UNAVAILABLE;
    }
  }

  private void waitFor(KeeperServer server) {
    var end = new CountDownLatch(1);
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  server.close();
                  end.countDown();
                },
                "shutdown"));
    Signals.onHangup(() -> reload(server));
    greet(server);
    try {
      end.await();
    } catch (InterruptedException e) {
      server.close();
      Thread.currentThread().interrupt();
    }
  }

  private void greet(KeeperServer server) {
    out.println("Sessionkeeper " + KeeperServer.version() + " listens on " + server.address());
    out.println("Store: " + server.description());
    out.println(
        server.isClosed()
            ? "Callers need a credential."
            : "Open to all users of this machine: loopback needs no credential.");
    out.println("Next, in a second terminal: " + next(server));
    out.flush();
  }

  /**
   * Returns the command to try next on this server. The demo works only on a server without
   * credentials.
   */
  static String next(KeeperServer server) {
    var keeper = System.getProperty("sessionkeeper.command", "./keeper");
    // A client cannot call the address of all interfaces, and no certificate names it.
    var address =
        server.address().replace("//0.0.0.0:", "//localhost:").replace("//[::]:", "//localhost:");
    var url = address.equals(DEFAULT_ADDRESS) ? "" : " --url " + address;
    if (address.startsWith("https:")) {
      return keeper
          + " doctor"
          + url
          + " --ca FILE"
          + (server.isClosed() ? " --key-file FILE" : "");
    }
    return server.isClosed()
        ? keeper + " doctor" + url + " --key-file FILE"
        : keeper + " demo" + url;
  }

  private static void reload(KeeperServer server) {
    try {
      server.reload();
    } catch (InvalidConfig e) {
      log.error("The configuration was not reloaded; nothing has changed:\n{}", e.getMessage());
    } catch (KeeperException e) {
      log.error("The configuration was not reloaded: {}", e.getMessage());
    }
  }
}
