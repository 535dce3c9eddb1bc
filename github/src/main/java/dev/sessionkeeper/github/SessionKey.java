package dev.sessionkeeper.github;

/** By what a session id names the repository. */
public enum SessionKey {
  /** {@code owner/name}: readable, and another lane after a rename or transfer. */
  NAME,
  /** GitHub's number: the lane stays over renames and transfers. */
  ID
}
