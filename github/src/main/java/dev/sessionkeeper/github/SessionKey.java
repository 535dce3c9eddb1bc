package dev.sessionkeeper.github;

/** The identifier of the repository in session ids: its name or its number. */
public enum SessionKey {
  /** {@code owner/name}: readable, but a new session after a rename or transfer. */
  NAME,
  /** GitHub's number: the same session after renames and transfers. */
  ID
}
