package dev.sessionkeeper.server.json;

/**
 * Moves over the values of a JSON document, and checks its grammar. Nothing is allocated, because
 * each payload is checked whenever it is read or written.
 *
 * <p>The caller checks that the bytes are UTF-8. {@link #value} and {@link #text} return whether
 * there is one at the position, and move behind it.
 */
final class ScanJson {
  private static final int MAX_NUMBER = 1000;
  private static final int MAX_NAME = 1000;

  /** Stands for the end of the document; bytes are smaller. */
  private static final int END = 256;

  private final byte[] document;
  private final int maxDepth;
  private int at;

  /** Creates a scanner at this position. */
  ScanJson(byte[] document, int at, int maxDepth) {
    this.document = document;
    this.at = at;
    this.maxDepth = maxDepth;
  }

  /** Returns whether one value follows, at most so deep, and nothing behind it. */
  boolean isDocument() {
    return value() && next() == END;
  }

  /** Returns the position. */
  int at() {
    return at;
  }

  /** Moves over one byte. */
  void take() {
    at++;
  }

  boolean value() {
    return value(0);
  }

  /** Skips white space and returns the next byte without taking it. */
  int next() {
    while (at < document.length) {
      byte here = document[at];
      if (here != ' ' && here != '\n' && here != '\r' && here != '\t') {
        return here;
      }
      at++;
    }
    return END;
  }

  private boolean value(int depth) {
    return switch (next()) {
      case '{' -> depth < maxDepth && members(depth + 1);
      case '[' -> depth < maxDepth && items(depth + 1);
      case '"' -> text();
      case 't' -> word("true");
      case 'f' -> word("false");
      case 'n' -> word("null");
      default -> number();
    };
  }

  private boolean members(int depth) {
    at++;
    if (next() == '}') {
      at++;
      return true;
    }
    while (true) {
      if (next() != '"' || !name() || next() != ':') {
        return false;
      }
      at++;
      if (!value(depth)) {
        return false;
      }
      int behind = next();
      at++;
      if (behind != ',') {
        return behind == '}';
      }
    }
  }

  private boolean items(int depth) {
    at++;
    if (next() == ']') {
      at++;
      return true;
    }
    while (true) {
      if (!value(depth)) {
        return false;
      }
      int behind = next();
      at++;
      if (behind != ',') {
        return behind == ']';
      }
    }
  }

  private boolean name() {
    int start = at;
    return text() && at - start <= MAX_NAME + 2;
  }

  boolean text() {
    at++;
    while (at < document.length) {
      byte here = document[at++];
      if (here == '"') {
        return true;
      }
      // Bytes of longer UTF-8 sequences are negative.
      if ((here >= 0 && here < ' ') || (here == '\\' && !escape())) {
        return false;
      }
    }
    return false;
  }

  private boolean escape() {
    if (at == document.length) {
      return false;
    }
    return switch (document[at++]) {
      case '"', '\\', '/', 'b', 'f', 'n', 'r', 't' -> true;
      case 'u' -> hex(4);
      default -> false;
    };
  }

  private boolean hex(int digits) {
    for (int i = 0; i < digits; i++) {
      if (at == document.length || Character.digit(document[at++], 16) < 0) {
        return false;
      }
    }
    return true;
  }

  private boolean word(String word) {
    int end = at + word.length();
    if (end > document.length) {
      return false;
    }
    for (int i = 0; i < word.length(); i++) {
      if (document[at + i] != word.charAt(i)) {
        return false;
      }
    }
    at = end;
    return endsHere();
  }

  private boolean number() {
    int start = at;
    if (is('-')) {
      at++;
    }
    if (is('0')) {
      at++;
    } else if (!digits()) {
      return false;
    }
    if (is('.')) {
      at++;
      if (!digits()) {
        return false;
      }
    }
    if (is('e') || is('E')) {
      at++;
      if (is('+') || is('-')) {
        at++;
      }
      if (!digits()) {
        return false;
      }
    }
    return at - start <= MAX_NUMBER && endsHere();
  }

  /** Takes digits; returns whether there was one. */
  private boolean digits() {
    int start = at;
    while (at < document.length && document[at] >= '0' && document[at] <= '9') {
      at++;
    }
    return at > start;
  }

  private boolean is(char wanted) {
    return at < document.length && document[at] == wanted;
  }

  /** Returns whether a word or number may end before the next byte. */
  private boolean endsHere() {
    if (at == document.length) {
      return true;
    }
    return switch (document[at]) {
      case ' ', '\n', '\r', '\t', ',', ']', '}' -> true;
      default -> false;
    };
  }
}
