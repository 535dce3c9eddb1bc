package dev.sessionkeeper.server.http;

import dev.sessionkeeper.QueueSetting;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/**
 * The part of the API description that Java types cannot express: descriptions, examples, bounds
 * and the words of an enumeration. Read once from {@code openapi/words.json} and from {@link
 * QueueSetting}; immutable.
 *
 * <p>An entry for {@code Schema.field} adds to the entry for the field's name alone. So a name that
 * means the same everywhere is described once.
 */
final class ApiWords {
  private static final String RESOURCE = "/openapi/words.json";

  private final Map<String, String> tags;
  private final Map<String, String> schemas;
  private final Map<String, Map<String, Object>> fields;
  private final Map<String, Map<String, Object>> parameters;

  private record Document(
      Map<String, String> tags,
      Map<String, String> schemas,
      Map<String, Map<String, Object>> fields,
      Map<String, Map<String, Object>> parameters) {}

  private ApiWords(Document document) {
    this.tags = document.tags();
    this.schemas = document.schemas();
    this.fields = new LinkedHashMap<>(document.fields());
    QueueSetting.all().forEach(setting -> fields.put(setting.name(), describe(setting)));
    this.parameters = document.parameters();
  }

  private static Map<String, Object> describe(QueueSetting<?> setting) {
    var words = new LinkedHashMap<String, Object>();
    words.put("description", setting.description());
    switch (setting.values()) {
      case QueueSetting.WholeNumber number -> {
        words.put("minimum", number.least());
        words.put("maximum", number.most());
      }
      case QueueSetting.TimeSpan span ->
          words.put("description", setting.description() + "; " + span.allowed());
      case QueueSetting.Choice<?> choice -> {}
    }
    var example = setting.initially();
    words.put("examples", List.of(example instanceof Integer ? example : example.toString()));
    return words;
  }

  private static final class Loaded {
    static final ApiWords WORDS = read();
  }

  static ApiWords get() {
    return Loaded.WORDS;
  }

  private static ApiWords read() {
    try (var in = ApiWords.class.getResourceAsStream(RESOURCE)) {
      if (in == null) {
        throw new IllegalStateException(RESOURCE + " is not on the class path");
      }
      return new ApiWords(JsonMapper.shared().readValue(in, new TypeReference<Document>() {}));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The groups of operations with their descriptions, in order. */
  Map<String, String> tags() {
    return tags;
  }

  /** The group of a path: its first segment where that is a group, or {@code server}. */
  String tagOf(String path) {
    var first = path.split("/", 3)[1];
    return tags.containsKey(first) ? first : "server";
  }

  Optional<String> schema(String name) {
    return Optional.ofNullable(schemas.get(name));
  }

  /** The keywords of a field, beside its type. */
  Map<String, Object> field(String schema, String name) {
    return merged(fields, name, schema + "." + name);
  }

  /** The keywords of a parameter: {@code description} and those of its schema. */
  Map<String, Object> parameter(String route, String name) {
    return merged(parameters, name, route + " " + name);
  }

  private static Map<String, Object> merged(
      Map<String, Map<String, Object>> from, String general, String special) {
    var words = new LinkedHashMap<>(from.getOrDefault(general, Map.of()));
    words.putAll(from.getOrDefault(special, Map.of()));
    return words;
  }
}
