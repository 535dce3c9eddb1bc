package dev.sessionkeeper.server.config;

import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Decoder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** What the readers of sections need beside the file: the environment, and where paths begin. */
public final class ConfigContext {
  private static final int MAX_SECRET_FILE = 64 << 10;

  private final Map<String, String> environment;
  private final Path folder;
  private final List<String> warnings = new ArrayList<>();

  ConfigContext(Map<String, String> environment, Path folder) {
    this.environment = environment;
    this.folder = folder;
  }

  /** {@code env:NAME}, {@code file:PATH}, or a literal, which is warned about. */
  public Decoder<Secret> secret() {
    return Decode.text().map(this::resolve);
  }

  /** A path; a relative one begins at the folder of the configuration file. */
  public Decoder<Path> path() {
    return Decode.text(4096).map(this::pathOf);
  }

  public void warn(String warning) {
    warnings.add(warning);
  }

  List<String> warnings() {
    return warnings;
  }

  private Secret resolve(String text) {
    if (text.startsWith("env:")) {
      return fromEnvironment(text.substring(4));
    }
    if (text.startsWith("file:")) {
      return fromFile(pathOf(text.substring(5)));
    }
    if (text.isBlank()) {
      throw new IllegalArgumentException("must not be blank");
    }
    warn("A secret is written in the configuration itself; env:NAME or file:PATH keep it out");
    return Secret.of(text);
  }

  private Secret fromEnvironment(String name) {
    var value = environment.get(name);
    if (value == null || value.isBlank()) {
      throw new IllegalArgumentException(
          "names the environment variable " + name + ", which is not set");
    }
    return Secret.of(value);
  }

  private static Secret fromFile(Path file) {
    try {
      if (Files.size(file) > MAX_SECRET_FILE) {
        throw new IllegalArgumentException("names the file " + file + ", which is too large");
      }
      var text = Files.readString(file).strip();
      if (text.isEmpty()) {
        throw new IllegalArgumentException("names the file " + file + ", which is empty");
      }
      return Secret.of(text);
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "names the file " + file + ", which cannot be read as text", e);
    }
  }

  private Path pathOf(String text) {
    try {
      return folder.resolve(text).normalize();
    } catch (InvalidPathException e) {
      throw new IllegalArgumentException("must be a path", e);
    }
  }
}
