package dev.sessionkeeper.postgres.jdbc;

/** Removes characters from free text that a PostgreSQL column cannot store. */
public final class StorableText {
  private static final char REPLACEMENT = '\uFFFD';

  private StorableText() {}

  /** Removes what PostgreSQL refuses in a text: NUL and lone surrogates. */
  public static String storable(String text) {
    int bad = firstBad(text);
    if (bad < 0) {
      return text;
    }
    var clean = new StringBuilder(text);
    for (; bad >= 0; bad = firstBad(clean)) {
      clean.setCharAt(bad, REPLACEMENT);
    }
    return clean.toString();
  }

  private static int firstBad(CharSequence text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == 0 || Character.isLowSurrogate(c)) {
        return i;
      }
      if (Character.isHighSurrogate(c)) {
        if (i + 1 == text.length() || !Character.isLowSurrogate(text.charAt(i + 1))) {
          return i;
        }
        i++;
      }
    }
    return -1;
  }
}
