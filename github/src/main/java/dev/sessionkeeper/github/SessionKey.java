package dev.sessionkeeper.github;

/** The identifier of the repository in session ids: its name or its number. */
public enum SessionKey {
  /** {@code owner/name}: readable, and another lane after a rename or transfer. */
  NAME,
  /** GitHub's number: the lane stays over renames and transfers. */
  ID
}
