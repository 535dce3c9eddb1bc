package dev.sessionkeeper.github;

import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The few values of a payload that routing needs, by path. A value of an unexpected JSON type
 * counts as absent, because payloads are not trusted.
 */
record Facts(Map<String, Fact> byPath) {
  /** A value at a path. */
  sealed interface Fact {
    /** A whole number, not negative, of at most 18 digits. */
    record WholeNumber(long value) implements Fact {}

    /**
     * A text of at most 1,024 characters, not blank, without control characters or invalid Unicode.
     */
    record Text(String value) implements Fact {}

    record ObjectStart() implements Fact {}
  }

  OptionalLong number(String path) {
    return byPath.get(path) instanceof Fact.WholeNumber number
        ? OptionalLong.of(number.value())
        : OptionalLong.empty();
  }

  Optional<String> text(String path) {
    return byPath.get(path) instanceof Fact.Text text
        ? Optional.of(text.value())
        : Optional.empty();
  }

  boolean hasObject(String path) {
    return byPath.get(path) instanceof Fact.ObjectStart;
  }
}
