package dev.sessionkeeper;

/** Formats an untrusted value for a log or error message: short, printable, in quotes. */
final class Quoted {
  private static final int SHOWN = 60;

  private Quoted() {}

  static String of(String value) {
    var shown = new StringBuilder("\"");
    value
        .codePoints()
        .limit(SHOWN)
        .forEach(c -> shown.appendCodePoint(Character.isISOControl(c) ? '?' : c));
    return shown.append(value.length() > SHOWN ? "…\"" : "\"").toString();
  }
}
