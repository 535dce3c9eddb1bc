package dev.sessionkeeper;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Finds one text, number or boolean in a JSON document without building a tree.
 *
 * <p>Strict (RFC 8259): a document that is malformed anywhere has nothing. Of a name that occurs
 * twice the last one counts, as in most parsers, so that sender and receiver see the same key.
 */
final class JsonScalar {
  private static final int MAX_DEPTH = 512;
  private static final int OFF_PATH = -1;

  private final List<String> path;
  private final String text;
  private int at;
  private @Nullable String found;

  private JsonScalar(List<String> path, String text) {
    this.path = path;
    this.text = text;
  }

  static Optional<String> at(List<String> path, String document) {
    var scan = new JsonScalar(path, document);
    try {
      scan.value(0, 0);
      scan.skipSpace();
      return scan.at == document.length() ? Optional.ofNullable(scan.found) : Optional.empty();
    } catch (Malformed e) {
      return Optional.empty();
    }
  }

  /** The steps of a dotted path; a backslash before a dot, or a backslash, takes it as it is. */
  static List<String> stepsOf(String path) {
    var steps = new ArrayList<String>();
    var step = new StringBuilder();
    for (int i = 0; i < path.length(); i++) {
      char c = path.charAt(i);
      if (c == '\\' && i + 1 < path.length()) {
        step.append(path.charAt(++i));
      } else if (c == '.') {
        steps.add(step.toString());
        step.setLength(0);
      } else {
        step.append(c);
      }
    }
    steps.add(step.toString());
    if (steps.contains("")) {
      throw new IllegalArgumentException(
          "A JSON path has names between its dots, was " + Quoted.of(path));
    }
    return List.copyOf(steps);
  }

  /**
   * @param matched how many steps of the path lead here, or {@link #OFF_PATH}
   */
  private void value(int depth, int matched) {
    if (depth > MAX_DEPTH) {
      throw new Malformed();
    }
    skipSpace();
    if (matched != OFF_PATH) {
      found = null;
    }
    boolean isWanted = matched == path.size();
    switch (peek()) {
      case '{' -> object(depth, isWanted ? OFF_PATH : matched);
      case '[' -> array(depth, isWanted ? OFF_PATH : matched);
      case '"' -> keep(isWanted, string());
      case 't' -> keep(isWanted, literal("true"));
      case 'f' -> keep(isWanted, literal("false"));
      case 'n' -> literal("null");
      default -> keep(isWanted, number());
    }
  }

  private void keep(boolean isWanted, String scalar) {
    if (isWanted) {
      found = scalar;
    }
  }

  private void object(int depth, int matched) {
    at++;
    skipSpace();
    if (taken('}')) {
      return;
    }
    do {
      skipSpace();
      var name = string();
      skipSpace();
      expect(':');
      value(depth + 1, step(matched, name));
      skipSpace();
    } while (taken(','));
    expect('}');
  }

  private void array(int depth, int matched) {
    at++;
    skipSpace();
    if (taken(']')) {
      return;
    }
    int index = 0;
    do {
      value(depth + 1, matched == OFF_PATH ? OFF_PATH : step(matched, Integer.toString(index++)));
      skipSpace();
    } while (taken(','));
    expect(']');
  }

  private int step(int matched, String name) {
    return matched != OFF_PATH && path.get(matched).equals(name) ? matched + 1 : OFF_PATH;
  }

  private String string() {
    expect('"');
    int from = at;
    while (peek() != '"') {
      if (text.charAt(at) == '\\') {
        return escapedString(from);
      }
      plainCharacter();
    }
    return text.substring(from, at++);
  }

  private String escapedString(int from) {
    var value = new StringBuilder(text.substring(from, at));
    while (!taken('"')) {
      value.append(taken('\\') ? escaped() : plainCharacter());
    }
    return value.toString();
  }

  private char plainCharacter() {
    if (peek() < ' ') {
      throw new Malformed();
    }
    return text.charAt(at++);
  }

  private char escaped() {
    char c = peek();
    at++;
    return switch (c) {
      case '"', '\\', '/' -> c;
      case 'b' -> '\b';
      case 'f' -> '\f';
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      case 'u' -> unicode();
      default -> throw new Malformed();
    };
  }

  private char unicode() {
    int code = 0;
    for (int i = 0; i < 4; i++) {
      int digit = peek() < 0x80 ? Character.digit(peek(), 16) : -1;
      if (digit < 0) {
        throw new Malformed();
      }
      code = code * 16 + digit;
      at++;
    }
    return (char) code;
  }

  private String number() {
    int from = at;
    taken('-');
    if (!taken('0')) {
      digits();
    }
    if (taken('.')) {
      digits();
    }
    if (taken('e') || taken('E')) {
      if (!taken('+')) {
        taken('-');
      }
      digits();
    }
    return text.substring(from, at);
  }

  private void digits() {
    int from = at;
    while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
      at++;
    }
    if (at == from) {
      throw new Malformed();
    }
  }

  private String literal(String word) {
    if (!text.startsWith(word, at)) {
      throw new Malformed();
    }
    at += word.length();
    return word;
  }

  private void skipSpace() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
  }

  private char peek() {
    if (at >= text.length()) {
      throw new Malformed();
    }
    return text.charAt(at);
  }

  private boolean taken(char c) {
    if (at < text.length() && text.charAt(at) == c) {
      at++;
      return true;
    }
    return false;
  }

  private void expect(char c) {
    if (!taken(c)) {
      throw new Malformed();
    }
  }

  /** Not JSON; a result inside this class, so without a stack trace. */
  private static final class Malformed extends RuntimeException {
    private static final long serialVersionUID = 1;

    Malformed() {
      super("not JSON", null, false, false);
    }
  }
}
