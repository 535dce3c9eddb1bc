package dev.sessionkeeper.server.config;

import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Decoder;
import dev.sessionkeeper.server.json.JsonValue;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The inputs of section readers beside the file: the environment, and the folder for relative
 * paths.
 */
public final class ConfigContext {
  private static final int MAX_SECRET_FILE = 64 << 10;

  private final Map<String, String> environment;
  private final Path folder;
  private final List<String> warnings = new ArrayList<>();
  private final List<Secret> resolved = new ArrayList<>();

  ConfigContext(Map<String, String> environment, Path folder) {
    this.environment = environment;
    this.folder = folder;
  }

  /**
   * Reads {@code env:NAME}, {@code file:PATH} or a literal. A literal in the file is warned about;
   * one in an environment variable of its own, such as {@code KEEPER_STORE_PASSWORD}, is not.
   */
  public Decoder<Secret> secret() {
    return value -> {
      boolean isInFile = !(value instanceof JsonValue.Word);
      var secret = Decode.text().map(text -> resolve(text, isInFile)).decode(value);
      resolved.add(secret);
      return secret;
    };
  }

  /** A path; a relative one begins at the folder of the configuration file. */
  public Decoder<Path> path() {
    return Decode.text(4096).map(this::pathOf);
  }

  public void warn(String warning) {
    warnings.add(warning);
  }

  /** Returns the secrets that were read so far, in that order. */
  List<Secret> resolved() {
    return List.copyOf(resolved);
  }

  List<String> warnings() {
    return warnings;
  }

  private Secret resolve(String text, boolean isInFile) {
    if (text.startsWith("env:")) {
      return fromEnvironment(text.substring(4));
    }
    if (text.startsWith("file:")) {
      return fromFile(pathOf(text.substring(5)));
    }
    if (text.isBlank()) {
      throw new IllegalArgumentException("must not be blank");
    }
    if (isInFile) {
      warn("A secret is written in the configuration itself; env:NAME or file:PATH keep it out");
    }
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
