package dev.sessionkeeper.server.dashboard;

import dev.sessionkeeper.server.json.InvalidInput;
import dev.sessionkeeper.server.json.Json;
import dev.sessionkeeper.server.json.JsonValue;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An object of an API answer, for templates. An absent member reads as blank, zero or empty,
 * because the API leaves out members without content.
 */
final class Data {
  static final Data NOTHING = new Data(new JsonValue.Obj(Map.of(), JsonValue.Span.NOWHERE));

  private final JsonValue value;

  private Data(JsonValue value) {
    this.value = value;
  }

  static Data of(byte[] answer) {
    return answer.length == 0 ? NOTHING : new Data(Json.readAnswer(answer));
  }

  /** Parses a document of any type; empty if the bytes are no JSON. */
  static Optional<Data> document(byte[] bytes) {
    try {
      return Optional.of(new Data(Json.readDocument(bytes)));
    } catch (InvalidInput e) {
      return Optional.empty();
    }
  }

  boolean has(String name) {
    return member(name).filter(found -> !(found instanceof JsonValue.Null)).isPresent();
  }

  /** Returns a member as text: a string, or a number or boolean as written. */
  String text(String name) {
    return member(name).map(Data::plain).orElse("");
  }

  String text(String name, String otherwise) {
    return has(name) ? text(name) : otherwise;
  }

  long number(String name) {
    var text = text(name);
    return text.isEmpty() ? 0 : Long.parseLong(text);
  }

  boolean isTrue(String name) {
    return text(name).equals("true");
  }

  Optional<Instant> time(String name) {
    return has(name) ? Optional.of(Instant.parse(text(name))) : Optional.empty();
  }

  Duration duration(String name) {
    return has(name) ? Duration.parse(text(name)) : Duration.ZERO;
  }

  Data at(String name) {
    return member(name).map(Data::new).orElse(NOTHING);
  }

  List<Data> list(String name) {
    return member(name).map(Data::items).orElse(List.of());
  }

  /** Returns a copy that keeps only some items of one of its lists. */
  Data only(String list, java.util.function.Predicate<Data> wanted) {
    var members = new LinkedHashMap<String, JsonValue>();
    members().forEach((name, member) -> members.put(name, member.value));
    var items = list(list).stream().filter(wanted).map(item -> item.value).toList();
    members.put(list, new JsonValue.Arr(items, JsonValue.Span.NOWHERE));
    return new Data(new JsonValue.Obj(members, JsonValue.Span.NOWHERE));
  }

  /** The texts of a list. */
  List<String> texts(String name) {
    return list(name).stream().map(item -> plain(item.value)).toList();
  }

  /** All members, in their order. */
  Map<String, Data> members() {
    var all = new LinkedHashMap<String, Data>();
    if (value instanceof JsonValue.Obj object) {
      object.members().forEach((name, member) -> all.put(name, new Data(member)));
    }
    return all;
  }

  /** Returns this value itself as text. */
  String plain() {
    return plain(value);
  }

  JsonValue json() {
    return value;
  }

  private Optional<JsonValue> member(String name) {
    return value instanceof JsonValue.Obj object
        ? Optional.ofNullable(object.members().get(name))
        : Optional.empty();
  }

  private static List<Data> items(JsonValue value) {
    return value instanceof JsonValue.Arr list
        ? list.items().stream().map(Data::new).toList()
        : List.of();
  }

  /** Returns a value as text: the characters of a string, anything else as written. */
  static String plain(JsonValue value) {
    return switch (value) {
      case JsonValue.Text text -> text.value();
      case JsonValue.Word word -> word.value();
      case JsonValue.Num number -> number.literal();
      case JsonValue.Bool bool -> String.valueOf(bool.value());
      case JsonValue.Null nothing -> "";
      case JsonValue.Obj object -> new String(object.span().bytes(), StandardCharsets.UTF_8);
      case JsonValue.Arr list -> new String(list.span().bytes(), StandardCharsets.UTF_8);
    };
  }
}
