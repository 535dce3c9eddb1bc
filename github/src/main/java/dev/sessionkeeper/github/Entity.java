package dev.sessionkeeper.github;

/** The GitHub object that an event is about, such as {@code pull_request} 5. */
public record Entity(String type, String id) {
  static final String REPOSITORY = "repository";

  boolean isRepository() {
    return type.equals(REPOSITORY);
  }
}
