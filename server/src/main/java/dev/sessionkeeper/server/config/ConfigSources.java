package dev.sessionkeeper.server.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The sources of a configuration.
 *
 * @param name the file as the user wrote it, for messages
 * @param folder the base of relative paths
 * @param flags values by key path, such as {@code server.port}
 */
public record ConfigSources(
    String name,
    String text,
    Path folder,
    Map<String, String> environment,
    Map<String, String> flags) {

  /**
   * Reads the file, if there is one.
   *
   * @throws InvalidConfig if it cannot be read
   */
  public static ConfigSources of(
      Optional<Path> file, Map<String, String> environment, Map<String, String> flags) {
    var here = Path.of("").toAbsolutePath();
    if (file.isEmpty()) {
      return new ConfigSources("the defaults", "", here, environment, flags);
    }
    var path = file.get();
    try {
      var folder = here.resolve(path).getParent();
      return new ConfigSources(
          path.toString(),
          Files.readString(path),
          folder == null ? here : folder,
          environment,
          flags);
    } catch (NoSuchFileException e) {
      throw new InvalidConfig(
          List.of(new ConfigError(path.toString(), "the file", "does not exist")));
    } catch (IOException e) {
      throw new InvalidConfig(
          List.of(new ConfigError(path.toString(), "the file", "cannot be read as UTF-8 text")));
    }
  }
}
