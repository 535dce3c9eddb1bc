package dev.sessionkeeper.cli;

/** Exit codes, as documented in docs/reference/cli.md. */
final class Exit {
  static final int OK = 0;

  /** The server refused, or a demo or check found a problem. */
  static final int FAILED = 1;

  /** The command line is wrong. */
  static final int USAGE = 2;

  /** The server does not answer. */
  static final int UNAVAILABLE = 69;

  /** The credential is missing or lacks a right. */
  static final int FORBIDDEN = 77;

  /** The configuration is wrong. */
  static final int CONFIG = 78;

  private Exit() {}
}
