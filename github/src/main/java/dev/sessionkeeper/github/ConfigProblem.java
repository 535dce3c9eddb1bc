package dev.sessionkeeper.github;

/**
 * A mistake in the configuration.
 *
 * @param path where, such as {@code bots[2].events[0]}
 * @param problem what is allowed, and what was found
 */
public record ConfigProblem(String path, String problem) {
  @Override
  public String toString() {
    return path + " " + problem;
  }
}
