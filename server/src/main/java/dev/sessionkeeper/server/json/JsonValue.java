package dev.sessionkeeper.server.json;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * A JSON value with its position in the source. Numbers stay text.
 *
 * <p>The content of a value that was parsed from bytes is parsed when a decoder asks for it. So a
 * payload of a million numbers, or an unknown field, never becomes objects in memory.
 */
public sealed interface JsonValue {
  Span span();

  /** Returns the kind of the value in words: "text", "a number". */
  String kind();

  /** An object. */
  final class Obj implements JsonValue {
    private final Later<Map<String, JsonValue>> members;
    private final Span span;

    public Obj(Map<String, JsonValue> members, Span span) {
      this(() -> members, span);
    }

    Obj(Supplier<Map<String, JsonValue>> members, Span span) {
      this.members = new Later<>(members);
      this.span = span;
    }

    /**
     * Returns the values by name, in their order.
     *
     * @throws InvalidInput if a name is repeated, or the document has too many values
     */
    public Map<String, JsonValue> members() {
      return members.get();
    }

    @Override
    public Span span() {
      return span;
    }

    @Override
    public String kind() {
      return "an object";
    }
  }

  /** A list. */
  final class Arr implements JsonValue {
    private final Later<List<JsonValue>> items;
    private final Span span;

    public Arr(List<JsonValue> items, Span span) {
      this(() -> items, span);
    }

    Arr(Supplier<List<JsonValue>> items, Span span) {
      this.items = new Later<>(items);
      this.span = span;
    }

    /**
     * Returns the values in their order.
     *
     * @throws InvalidInput if the document has too many values
     */
    public List<JsonValue> items() {
      return items.get();
    }

    @Override
    public Span span() {
      return span;
    }

    @Override
    public String kind() {
      return "a list";
    }
  }

  /** A text. */
  final class Text implements JsonValue {
    private final Later<String> value;
    private final Span span;

    public Text(String value, Span span) {
      this(() -> value, span);
    }

    Text(Supplier<String> value, Span span) {
      this.value = new Later<>(value);
      this.span = span;
    }

    public String value() {
      return value.get();
    }

    @Override
    public Span span() {
      return span;
    }

    @Override
    public String kind() {
      return "text";
    }
  }

  /** Untyped text from a query or an environment variable, which may also be read as a number. */
  record Word(String value, Span span) implements JsonValue {
    @Override
    public String kind() {
      return "text";
    }
  }

  record Num(String literal, Span span) implements JsonValue {
    @Override
    public String kind() {
      return "a number";
    }
  }

  record Bool(boolean value, Span span) implements JsonValue {
    @Override
    public String kind() {
      return "a boolean";
    }
  }

  record Null(Span span) implements JsonValue {
    @Override
    public String kind() {
      return "null";
    }
  }

  /** The position of a value: from its first byte to behind its last one. */
  record Span(byte[] source, int start, int end) {
    /** The position of a value that was not parsed from bytes. */
    public static final Span NOWHERE = new Span(new byte[0], 0, 0);

    /** Returns the bytes as they were sent. */
    public byte[] bytes() {
      return Arrays.copyOfRange(source, start, end);
    }
  }
}
