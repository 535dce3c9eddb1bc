package dev.sessionkeeper.github;

import dev.sessionkeeper.github.Facts.Fact;
import dev.sessionkeeper.github.ReadResult.Reason;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.core.json.JsonFactory;

/**
 * Reads the wanted values out of a JSON object in one pass.
 *
 * <p>The whole text is checked, but only wanted values are kept: a payload of 25 MB needs no more
 * memory than one of 10 KB. If a name is repeated in an object, the last one counts, as in the
 * parsers of the bots that receive the same bytes.
 */
final class ReadFacts {
  static final int MAX_DEPTH = 200;

  private static final int LONGEST_TEXT = 1024;
  private static final int MOST_DIGITS = 18;
  private static final String FIRST = "[0]";

  /** The result of reading a payload. */
  sealed interface Outcome {}

  record Good(Facts facts) implements Outcome {}

  record Bad(Reason reason, String explanation) implements Outcome {}

  /** A step of a wanted path. */
  private record Step(String path, Map<String, Step> next) {
    Step child(String name) {
      var childPath = path.isEmpty() || name.equals(FIRST) ? path + name : path + "." + name;
      return next.computeIfAbsent(name, key -> new Step(childPath, new HashMap<>()));
    }
  }

  private final JsonFactory json;
  private final Step root = new Step("", new HashMap<>());

  /**
   * Creates a reader. Paths are names joined by dots; {@code [0]} after a name is the first element
   * of a list.
   */
  ReadFacts(Set<String> wanted, int maxBody) {
    for (var path : wanted) {
      var step = root;
      for (var name : path.replace(FIRST, "." + FIRST).split("\\.", -1)) {
        step = step.child(name);
      }
    }
    var limits =
        StreamReadConstraints.builder()
            .maxNestingDepth(MAX_DEPTH)
            .maxNameLength(10_000)
            .maxNumberLength(1000)
            .maxStringLength(maxBody)
            .build();
    json = JsonFactory.builder().streamReadConstraints(limits).build();
  }

  Outcome read(byte[] body) {
    if (!isUtf8(body) || hasOtherEncodingsMark(body)) {
      return new Bad(Reason.NOT_UTF_8, "The body is not UTF-8, or has a byte order mark");
    }
    var found = new HashMap<String, Fact>();
    try (var parser = json.createParser(ObjectReadContext.empty(), body)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        // Reads to the end, so that text which is no JSON is reported as such.
        parser.skipChildren();
        return parser.currentToken() == null || parser.nextToken() != null
            ? new Bad(Reason.MALFORMED_JSON, "The body is not one JSON document")
            : new Bad(Reason.NOT_AN_OBJECT, "The body is JSON, but not an object");
      }
      readObject(parser, root, found);
      if (parser.nextToken() != null) {
        return new Bad(
            Reason.MALFORMED_JSON, "The body continues after the end of its JSON object");
      }
      return new Good(new Facts(found));
    } catch (StreamConstraintsException e) {
      return new Bad(
          Reason.TOO_COMPLEX,
          "The body's JSON is nested over " + MAX_DEPTH + " deep or has an endless name or number");
    } catch (JacksonException e) {
      var where = Optional.ofNullable(e.getLocation());
      return new Bad(
          Reason.MALFORMED_JSON,
          "The body is not JSON"
              + where
                  .map(at -> ", see line " + at.getLineNr() + ", column " + at.getColumnNr())
                  .orElse(""));
    }
  }

  private static void readObject(JsonParser parser, Step step, Map<String, Fact> found) {
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      var child = step.next().get(parser.currentName());
      parser.nextToken();
      if (child == null) {
        parser.skipChildren();
      } else {
        readValue(parser, child, found);
      }
    }
  }

  private static void readValue(JsonParser parser, Step step, Map<String, Fact> found) {
    forget(step, found);
    switch (parser.currentToken()) {
      case START_OBJECT -> {
        found.put(step.path(), new Fact.ObjectStart());
        readObject(parser, step, found);
      }
      case START_ARRAY -> readList(parser, step, found);
      case VALUE_NUMBER_INT -> number(parser).ifPresent(fact -> found.put(step.path(), fact));
      case VALUE_STRING -> text(parser).ifPresent(fact -> found.put(step.path(), fact));
      default -> {
        // Booleans, null and fractions are never ids.
      }
    }
  }

  private static void readList(JsonParser parser, Step step, Map<String, Fact> found) {
    var first = Optional.ofNullable(step.next().get(FIRST));
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      if (first.isPresent()) {
        readValue(parser, first.get(), found);
        first = Optional.empty();
      } else {
        parser.skipChildren();
      }
    }
  }

  private static void forget(Step step, Map<String, Fact> found) {
    found.remove(step.path());
    step.next().values().forEach(child -> forget(child, found));
  }

  private static Optional<Fact> number(JsonParser parser) {
    var digits = parser.getString();
    return digits.length() <= MOST_DIGITS && digits.charAt(0) != '-'
        ? Optional.of(new Fact.WholeNumber(Long.parseLong(digits)))
        : Optional.empty();
  }

  private static Optional<Fact> text(JsonParser parser) {
    if (parser.getStringLength() > LONGEST_TEXT) {
      return Optional.empty();
    }
    var text = parser.getString();
    boolean sound =
        text.codePoints()
            .noneMatch(
                c -> Character.isISOControl(c) || Character.getType(c) == Character.SURROGATE);
    return sound && !text.isBlank() ? Optional.of(new Fact.Text(text)) : Optional.empty();
  }

  private static boolean isUtf8(byte[] body) {
    var decoder = StandardCharsets.UTF_8.newDecoder();
    var in = ByteBuffer.wrap(body);
    var out = CharBuffer.allocate(8192);
    CoderResult result;
    do {
      out.clear();
      result = decoder.decode(in, out, true);
    } while (result.isOverflow());
    return result.isUnderflow();
  }

  /**
   * Returns whether the parser would read the body as UTF-16 or UTF-32, or skip a byte order mark.
   * Bots receive the same bytes, and their parsers would not.
   */
  private static boolean hasOtherEncodingsMark(byte[] body) {
    for (int i = 0; i < Math.min(4, body.length); i++) {
      if (body[i] == 0 || body[i] == (byte) 0xef) {
        return true;
      }
    }
    return false;
  }
}
