package dev.sessionkeeper.server.dashboard;

import dev.sessionkeeper.server.json.InvalidInput;
import dev.sessionkeeper.server.json.JsonValue;
import gg.jte.Content;
import gg.jte.TemplateOutput;
import java.nio.charset.StandardCharsets;

/**
 * Writes JSON as HTML, keeping numbers as they were sent. Shows only the beginning of a document
 * over 256 KB.
 */
final class JsonHtml implements Content {
  private static final int MOST_BYTES = 256 << 10;

  private final JsonValue value;

  private JsonHtml(JsonValue value) {
    this.value = value;
  }

  static Content of(JsonValue value) {
    return new JsonHtml(value);
  }

  @Override
  public void writeTo(TemplateOutput out) {
    var span = value.span();
    if (span.end() - span.start() > MOST_BYTES) {
      out.writeUserContent(Show.cut(new String(span.bytes(), StandardCharsets.UTF_8)));
      return;
    }
    try {
      write(out, value, 0);
    } catch (InvalidInput e) {
      // Valid JSON, but with more names in one object than the parser accepts.
      out.writeUserContent(new String(span.bytes(), StandardCharsets.UTF_8));
    }
  }

  private static void write(TemplateOutput out, JsonValue value, int depth) {
    switch (value) {
      case JsonValue.Obj object -> object(out, object, depth);
      case JsonValue.Arr list -> list(out, list, depth);
      case JsonValue.Text text -> marked(out, "s", raw(text));
      case JsonValue.Word word -> marked(out, "s", word.value());
      case JsonValue.Num number -> marked(out, "n", number.literal());
      case JsonValue.Bool bool -> marked(out, "b", String.valueOf(bool.value()));
      case JsonValue.Null nothing -> marked(out, "b", "null");
    }
  }

  private static void object(TemplateOutput out, JsonValue.Obj object, int depth) {
    if (object.members().isEmpty()) {
      out.writeContent("{}");
      return;
    }
    out.writeContent("{\n");
    var separator = "";
    for (var member : object.members().entrySet()) {
      out.writeContent(separator);
      indent(out, depth + 1);
      marked(out, "k", '"' + member.getKey() + '"');
      out.writeContent(": ");
      write(out, member.getValue(), depth + 1);
      separator = ",\n";
    }
    out.writeContent("\n");
    indent(out, depth);
    out.writeContent("}");
  }

  private static void list(TemplateOutput out, JsonValue.Arr list, int depth) {
    if (list.items().isEmpty()) {
      out.writeContent("[]");
      return;
    }
    out.writeContent("[\n");
    var separator = "";
    for (var item : list.items()) {
      out.writeContent(separator);
      indent(out, depth + 1);
      write(out, item, depth + 1);
      separator = ",\n";
    }
    out.writeContent("\n");
    indent(out, depth);
    out.writeContent("]");
  }

  private static void marked(TemplateOutput out, String css, String text) {
    out.writeContent("<span class=\"j-" + css + "\">");
    out.writeUserContent(text);
    out.writeContent("</span>");
  }

  private static String raw(JsonValue.Text text) {
    var bytes = text.span().bytes();
    return bytes.length == 0 ? '"' + text.value() + '"' : new String(bytes, StandardCharsets.UTF_8);
  }

  private static void indent(TemplateOutput out, int depth) {
    out.writeContent("  ".repeat(depth));
  }
}
