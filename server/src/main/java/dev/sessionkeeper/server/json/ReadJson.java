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

  /** The depth of answers of this API, in which a payload of the deepest nesting may be. */
  private static final int AROUND_BODIES = 2 * MAX_DEPTH;

  private static final JsonFactory FACTORY = factory(MAX_DEPTH);
  private static final int BYTE_ORDER_MARK = 3;

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
    return parse(source, MAX_DEPTH);
  }

  /** Parses an answer of this server's own API. */
  static JsonValue parseAnswer(byte[] source) {
    return parse(source, AROUND_BODIES);
  }

  private static JsonValue parse(byte[] source, int maxDepth) {
    if (source.length == 0) {
      throw new InvalidInput("$", "must be a JSON document, was empty");
    }
    if (!isUtf8(source)) {
      throw new InvalidInput("$", "is not UTF-8");
    }
    int start = hasByteOrderMark(source) ? BYTE_ORDER_MARK : 0;
    if (!new ScanJson(source, start, maxDepth).isDocument()) {
      throw refused(source, maxDepth);
    }
    return new ReadJson(source).value(new ScanJson(source, start, maxDepth));
  }

  private static boolean hasByteOrderMark(byte[] source) {
    return source.length > BYTE_ORDER_MARK
        && source[0] == (byte) 0xEF
        && source[1] == (byte) 0xBB
        && source[2] == (byte) 0xBF;
  }

  /** Asks the parser of the library what is wrong, because it names the place and the reason. */
  private static InvalidInput refused(byte[] source, int maxDepth) {
    try (var parser = factory(maxDepth).createParser(ObjectReadContext.empty(), source)) {
      if (parser.nextToken() == null) {
        return new InvalidInput("$", "must be a JSON document, was empty");
      }
      parser.skipChildren();
      parser.finishToken();
      if (parser.nextToken() != null) {
        return new InvalidInput("$", "has more behind the end of the JSON document");
      }
      return new InvalidInput("$", "is not valid JSON");
    } catch (JacksonException e) {
      return refused(e);
    }
  }

  /** Returns whether these bytes are one valid document, without building it. */
  static boolean isDocument(byte[] source) {
    return new ScanJson(source, 0, MAX_DEPTH).isDocument() && isUtf8(source);
  }

  /** Returns the value at the scanner's position, and moves the scanner behind it. */
  private JsonValue value(ScanJson scan) {
    int first = scan.next();
    int start = scan.at();
    require(scan.value());
    var span = new Span(source, start, scan.at());
    return switch (first) {
      case '{' -> new JsonValue.Obj(() -> members(span), span);
      case '[' -> new JsonValue.Arr(() -> items(span), span);
      case '"' -> new JsonValue.Text(() -> text(span), span);
      case 't' -> new JsonValue.Bool(true, span);
      case 'f' -> new JsonValue.Bool(false, span);
      case 'n' -> new JsonValue.Null(span);
      default -> new JsonValue.Num(ascii(span), span);
    };
  }

  private String ascii(Span span) {
    return new String(source, span.start(), span.end() - span.start(), StandardCharsets.ISO_8859_1);
  }

  private Map<String, JsonValue> members(Span span) {
    var members = new LinkedHashMap<String, JsonValue>();
    var scan = inside(span);
    while (scan.next() != '}') {
      int start = scan.at();
      require(scan.text());
      var name = text(new Span(source, start, scan.at()));
      scan.next();
      scan.take(); // The colon.
      count();
      if (members.put(name, value(scan)) != null) {
        throw new InvalidInput(Decode.shown(name), "is there twice");
      }
      if (members.size() > MAX_NAMES) {
        throw new InvalidInput("", "must have at most " + MAX_NAMES + " names");
      }
      takeComma(scan);
    }
    return members;
  }

  private List<JsonValue> items(Span span) {
    var items = new ArrayList<JsonValue>();
    var scan = inside(span);
    while (scan.next() != ']') {
      count();
      items.add(value(scan));
      takeComma(scan);
    }
    return items;
  }

  /** Returns a scanner behind the opening bracket. The grammar of the content was checked. */
  private ScanJson inside(Span span) {
    return new ScanJson(source, span.start() + 1, Integer.MAX_VALUE);
  }

  private static void takeComma(ScanJson scan) {
    if (scan.next() == ',') {
      scan.take();
    }
  }

  private static void require(boolean isThere) {
    if (!isThere) {
      throw new IllegalStateException("The document was checked before");
    }
  }

  private String text(Span span) {
    for (int i = span.start(); i < span.end(); i++) {
      if (source[i] == '\\') {
        return unescaped(span);
      }
    }
    return new String(
        source, span.start() + 1, span.end() - span.start() - 2, StandardCharsets.UTF_8);
  }

  private String unescaped(Span span) {
    try (var parser =
        FACTORY.createParser(
            ObjectReadContext.empty(), source, span.start(), span.end() - span.start())) {
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

  private static boolean isAscii(byte[] bytes) {
    for (byte each : bytes) {
      if (each < 0) {
        return false;
      }
    }
    return true;
  }

  private static boolean isUtf8(byte[] bytes) {
    if (isAscii(bytes)) {
      return true; // Nearly every body, and a decoder has buffers of its own.
    }
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
