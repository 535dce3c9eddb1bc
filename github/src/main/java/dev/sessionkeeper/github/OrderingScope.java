package dev.sessionkeeper.github;

/** The part of GitHub that one session of a bot covers: an entity, a repository, or no order. */
public enum OrderingScope {
  /** No order: the queue is unordered, and any number of consumers share it. */
  NONE,
  /** One session per pull request, issue, check run and so on. */
  ENTITY,
  /** One session per repository. */
  REPOSITORY
}
