package dev.sessionkeeper.server.config;

import java.util.List;
import java.util.stream.Collectors;

/** Reports a configuration that was refused, with all of its errors. */
public final class InvalidConfig extends RuntimeException {
  private static final long serialVersionUID = 1;
  private final transient List<ConfigError> errors;

  public InvalidConfig(List<ConfigError> errors) {
    super(
        errors.stream().map(ConfigError::toString).collect(Collectors.joining("\n")),
        null,
        false,
        false);
    this.errors = List.copyOf(errors);
  }

  public List<ConfigError> errors() {
    return errors;
  }
}
