package dev.sessionkeeper.server.json;

import dev.sessionkeeper.server.json.JsonValue.Span;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;

/**
 * Reads one JSON document strictly: valid UTF-8, no duplicate names, nothing after the document,
 * bounded depth.
 *
 * <p>The whole document is checked, but its values are built level by level, when a decoder asks
 * for the content of a value. So {@link #MAX_VALUES} and {@link #MAX_NAMES} bound the memory,
 * whatever a caller sends.
 */
final class ReadJson {
  /** The deepest nesting of a document. It also bounds the recursion. */
  static final int MAX_DEPTH = 100;

  /** The most names of one object. */
  static final int MAX_NAMES = 1000;

  /** The most values of one document. Values inside an unparsed payload do not count. */
  static final int MAX_VALUES = 100_000;

  private static final JsonFactory FACTORY = factory(MAX_DEPTH);

  /** For answers of this API, in which a payload of the deepest nesting may be embedded. */
  private static final JsonFactory AROUND_BODIES = factory(2 * MAX_DEPTH);

  private final byte[] source;
  private int values;

  private ReadJson(byte[] source) {
    this.source = source;
  }

  private static JsonFactory factory(int depth) {
    return JsonFactory.builder()
        .streamReadConstraints(
            StreamReadConstraints.builder()
                .maxNestingDepth(depth)
                .maxStringLength(32 << 20)
                .maxNameLength(1000)
                .maxNumberLength(1000)
                .build())
        .build();
  }

  static JsonValue parse(byte[] source) {
    return parse(source, FACTORY);
  }

  /** Parses an answer of this server's own API. */
  static JsonValue parseAnswer(byte[] source) {
    return parse(source, AROUND_BODIES);
  }

  private static JsonValue parse(byte[] source, JsonFactory factory) {
    if (source.length == 0) {
      throw new InvalidInput("$", "must be a JSON document, was empty");
    }
    if (!isUtf8(source)) {
      throw new InvalidInput("$", "is not UTF-8");
    }
    try (var parser = factory.createParser(ObjectReadContext.empty(), source)) {
      if (parser.nextToken() == null) {
        throw new InvalidInput("$", "must be a JSON document, was empty");
      }
      var root = new ReadJson(source).value(parser, 0);
      if (parser.nextToken() != null) {
        throw new InvalidInput("$", "has more behind the end of the JSON document");
      }
      return root;
    } catch (JacksonException e) {
      throw refused(e);
    }
  }

  /** Returns whether these bytes are one valid document, without building it. */
  static boolean isDocument(byte[] source) {
    try (var parser = FACTORY.createParser(ObjectReadContext.empty(), source)) {
      if (parser.nextToken() == null) {
        return false;
      }
      parser.skipChildren();
      parser.finishToken();
      return parser.nextToken() == null && isUtf8(source);
    } catch (JacksonException e) {
      return false;
    }
  }

  /** Returns the value at the parser's position, and moves the parser to its last token. */
  private JsonValue value(JsonParser parser, int offset) {
    var token = parser.currentToken();
    int start = offset + (int) parser.currentTokenLocation().getByteOffset();
    parser.skipChildren();
    parser.finishToken();
    var span = new Span(source, start, offset + (int) parser.currentLocation().getByteOffset());
    return switch (token) {
      case START_OBJECT -> new JsonValue.Obj(() -> members(span), span);
      case START_ARRAY -> new JsonValue.Arr(() -> items(span), span);
      case VALUE_STRING -> new JsonValue.Text(() -> text(span), span);
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> number(parser, start);
      case VALUE_TRUE -> new JsonValue.Bool(true, new Span(source, start, start + 4));
      case VALUE_FALSE -> new JsonValue.Bool(false, new Span(source, start, start + 5));
      case VALUE_NULL -> new JsonValue.Null(new Span(source, start, start + 4));
      case NOT_AVAILABLE, END_OBJECT, END_ARRAY, PROPERTY_NAME, VALUE_EMBEDDED_OBJECT ->
          throw new IllegalStateException("A parser over bytes gave " + token);
    };
  }

  private JsonValue number(JsonParser parser, int start) {
    var literal = parser.getString();
    return new JsonValue.Num(literal, new Span(source, start, start + literal.length()));
  }

  private Map<String, JsonValue> members(Span span) {
    var members = new LinkedHashMap<String, JsonValue>();
    try (var parser = parserOf(span)) {
      parser.nextToken();
      while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
        var name = parser.currentName();
        parser.nextToken();
        count();
        if (members.put(name, value(parser, span.start())) != null) {
          throw new InvalidInput(Decode.shown(name), "is there twice");
        }
        if (members.size() > MAX_NAMES) {
          throw new InvalidInput("", "must have at most " + MAX_NAMES + " names");
        }
      }
    } catch (JacksonException e) {
      throw refused(e);
    }
    return members;
  }

  private List<JsonValue> items(Span span) {
    var items = new ArrayList<JsonValue>();
    try (var parser = parserOf(span)) {
      parser.nextToken();
      while (parser.nextToken() != JsonToken.END_ARRAY) {
        count();
        items.add(value(parser, span.start()));
      }
    } catch (JacksonException e) {
      throw refused(e);
    }
    return items;
  }

  private String text(Span span) {
    try (var parser = parserOf(span)) {
      parser.nextToken();
      return parser.getString();
    } catch (JacksonException e) {
      throw refused(e);
    }
  }

  private void count() {
    values++;
    if (values > MAX_VALUES) {
      throw new InvalidInput(
          "", "makes the document too large: at most " + MAX_VALUES + " values are read");
    }
  }

  private JsonParser parserOf(Span span) {
    return FACTORY.createParser(
        ObjectReadContext.empty(), source, span.start(), span.end() - span.start());
  }

  private static InvalidInput refused(JacksonException e) {
    var at = e.getLocation();
    var where = at == null ? "" : " (line " + at.getLineNr() + ", column " + at.getColumnNr() + ")";
    return new InvalidInput("$", "is not valid JSON" + where + ": " + why(e));
  }

  private static String why(JacksonException e) {
    // The parser appends a description of the source, which is of no use to the caller.
    var text = String.valueOf(e.getOriginalMessage()).replaceFirst("(?s) at \\[.*", "");
    return text.length() > 200 ? text.substring(0, 200) + "…" : text;
  }

  private static boolean isUtf8(byte[] bytes) {
    var decoder = StandardCharsets.UTF_8.newDecoder();
    var in = ByteBuffer.wrap(bytes);
    var out = CharBuffer.allocate(Math.min(bytes.length, 8192));
    while (true) {
      var result = decoder.decode(in, out, true);
      if (result.isError()) {
        return false;
      }
      if (result.isUnderflow()) {
        return true;
      }
      out.clear();
    }
  }
}
