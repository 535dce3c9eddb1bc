package dev.sessionkeeper.server.config;

import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The place of the data.
 *
 * @param url {@code embedded}, {@code memory} (nothing survives the process), or a JDBC URL
 * @param data the folder of the embedded store
 * @param poolSize the most connections of this server
 */
public record StoreConfig(
    String url, Path data, Optional<String> user, Optional<Secret> password, int poolSize) {
  public static final ConfigSection<StoreConfig> SECTION =
      ConfigSection.of("store", StoreConfig::read)
          .restart("url", "data", "user", "password", "pool_size");

  static StoreConfig read(Fields in, ConfigContext context) {
    var url = in.optional("url", "embedded", Decode.text(2000).map(StoreConfig::known));
    var data = in.optional("data", Path.of("data").toAbsolutePath(), context.path());
    var user = in.optional("user", Decode.text(200));
    var password = in.optional("password", context.secret());
    var pool = in.optional("pool_size", 16, Decode.integer(2, 500));
    in.check();
    return new StoreConfig(url.get(), data.get(), user.get(), password.get(), pool.get());
  }

  private static String known(String url) {
    if (!url.equals("embedded") && !url.equals("memory") && !url.startsWith("jdbc:postgresql:")) {
      throw new IllegalArgumentException(
          "must be embedded, memory or a URL that begins with jdbc:postgresql:");
    }
    return url;
  }
}
