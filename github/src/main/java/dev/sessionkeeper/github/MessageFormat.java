package dev.sessionkeeper.github;

/** The format of a bot's message bodies. */
public enum MessageFormat {
  /** The payload, byte for byte as GitHub sent it. */
  RAW,
  /** The normalised event in the shape of CloudEvents 1.0, with the payload as {@code data}. */
  ENVELOPE
}
