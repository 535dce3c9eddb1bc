package dev.sessionkeeper.server.json;

import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * A value as it was sent: numbers stay text, and each value knows where it stands in its source.
 */
public sealed interface JsonValue {
  Span span();

  /** What people call it: "text", "a number". */
  String kind();

  record Obj(Map<String, JsonValue> members, Span span) implements JsonValue {
    @Override
    public String kind() {
      return "an object";
    }
  }

  record Arr(List<JsonValue> items, Span span) implements JsonValue {
    @Override
    public String kind() {
      return "a list";
    }
  }

  record Text(String value, Span span) implements JsonValue {
    @Override
    public String kind() {
      return "text";
    }
  }

  /** Text from where there are no types: a query, the environment. It may be meant as a number. */
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

  /** From its first byte to behind its last one. */
  record Span(byte[] source, int start, int end) {
    /** That of a value which was not read from bytes. */
    public static final Span NOWHERE = new Span(new byte[0], 0, 0);

    /** The bytes as they were sent. */
    public byte[] bytes() {
      return Arrays.copyOfRange(source, start, end);
    }
  }
}
