package dev.sessionkeeper.server.json;

import dev.sessionkeeper.server.json.JsonValue.Span;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;

/**
 * Reads one JSON document, strictly: valid UTF-8, no duplicate names, nothing behind it, bounded
 * depth. Used once.
 */
final class ReadJson {
  /** How deep a document may be nested. Bounds the recursion, too. */
  static final int MAX_DEPTH = 100;

  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(MAX_DEPTH)
                  .maxStringLength(32 << 20)
                  .maxNameLength(1000)
                  .maxNumberLength(1000)
                  .build())
          .build();

  private final byte[] source;
  private final JsonParser parser;

  private ReadJson(byte[] source, JsonParser parser) {
    this.source = source;
    this.parser = parser;
  }

  static JsonValue parse(byte[] source) {
    if (source.length == 0) {
      throw new InvalidInput("$", "must be a JSON document, was empty");
    }
    if (!isUtf8(source)) {
      throw new InvalidInput("$", "is not UTF-8");
    }
    try (var parser = FACTORY.createParser(ObjectReadContext.empty(), source)) {
      var reader = new ReadJson(source, parser);
      parser.nextToken();
      var value = reader.value();
      if (parser.nextToken() != null) {
        throw new InvalidInput("$", "goes on behind the end of the document");
      }
      return value;
    } catch (JacksonException e) {
      var at = e.getLocation();
      var where = at == null ? "" : " at line " + at.getLineNr() + ", column " + at.getColumnNr();
      throw new InvalidInput("$", "is not JSON that we take" + where + ": " + why(e));
    }
  }

  /** Whether these bytes are one document, without keeping anything of it. */
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

  private JsonValue value() {
    var token = parser.currentToken();
    if (token == null) {
      throw new InvalidInput("$", "must be a JSON document, was empty");
    }
    int start = (int) parser.currentTokenLocation().getByteOffset();
    return switch (token) {
      case START_OBJECT -> object(start);
      case START_ARRAY -> array(start);
      case VALUE_STRING -> {
        var text = parser.getString();
        yield new JsonValue.Text(text, upToHere(start));
      }
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> {
        var literal = parser.getString();
        yield new JsonValue.Num(literal, new Span(source, start, start + literal.length()));
      }
      case VALUE_TRUE -> new JsonValue.Bool(true, new Span(source, start, start + 4));
      case VALUE_FALSE -> new JsonValue.Bool(false, new Span(source, start, start + 5));
      case VALUE_NULL -> new JsonValue.Null(new Span(source, start, start + 4));
      case NOT_AVAILABLE, END_OBJECT, END_ARRAY, PROPERTY_NAME, VALUE_EMBEDDED_OBJECT ->
          throw new IllegalStateException("A parser over bytes gave " + token);
    };
  }

  private JsonValue object(int start) {
    var members = new LinkedHashMap<String, JsonValue>();
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      var name = parser.currentName();
      parser.nextToken();
      if (members.put(name, value()) != null) {
        throw new InvalidInput(name, "is there twice");
      }
    }
    return new JsonValue.Obj(members, upToHere(start));
  }

  private JsonValue array(int start) {
    var items = new ArrayList<JsonValue>();
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      items.add(value());
    }
    return new JsonValue.Arr(items, upToHere(start));
  }

  private Span upToHere(int start) {
    return new Span(source, start, (int) parser.currentLocation().getByteOffset());
  }

  private static String why(JacksonException e) {
    var text = String.valueOf(e.getOriginalMessage());
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
