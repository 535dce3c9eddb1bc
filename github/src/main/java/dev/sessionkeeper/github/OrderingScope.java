package dev.sessionkeeper.github;

/** How much of GitHub's world one session of a bot covers. */
public enum OrderingScope {
  /** Nothing is ordered: the queue is unordered, and any number of workers share it. */
  NONE,
  /** One session per pull request, issue, check run and so on. */
  ENTITY,
  /** One session per repository. */
  REPOSITORY
}
