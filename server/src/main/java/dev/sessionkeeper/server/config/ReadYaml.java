package dev.sessionkeeper.server.config;

import dev.sessionkeeper.server.json.JsonValue;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;

/** Reads a YAML file into the values that {@code Fields} reads, and records their positions. */
final class ReadYaml {
  /** Stands for an absent object. */
  static final JsonValue.Obj EMPTY = new JsonValue.Obj(Map.of(), JsonValue.Span.NOWHERE);

  private static final int MAX_DEPTH = 32;

  private final String file;
  private final Map<String, String> places = new HashMap<>();
  private final List<ConfigError> errors = new ArrayList<>();

  private ReadYaml(String file) {
    this.file = file;
  }

  /**
   * A file that was read.
   *
   * @param places the position of each key path: {@code keeper.yaml:3:9}
   */
  record Result(JsonValue.Obj root, Map<String, String> places, List<ConfigError> errors) {}

  static Result parse(String file, String text) {
    var reader = new ReadYaml(file);
    var root = reader.root(text);
    return new Result(root, reader.places, reader.errors);
  }

  private JsonValue.Obj root(String text) {
    var settings =
        LoadSettings.builder()
            .setLabel(file)
            .setUseMarks(true)
            .setMaxAliasesForCollections(50)
            .setCodePointLimit(4 << 20)
            .build();
    try {
      var node = new Compose(settings).composeString(text);
      if (node.isEmpty() || isNull(node.get())) {
        return EMPTY;
      }
      if (value("", node.get(), 0) instanceof JsonValue.Obj object) {
        return object;
      }
      errors.add(
          new ConfigError(place(node.get().getStartMark()), "the file", "must be a map of keys"));
    } catch (MarkedYamlEngineException e) {
      errors.add(
          new ConfigError(
              place(e.getProblemMark().or(e::getContextMark)),
              "the file",
              "is not YAML: " + e.getProblem()));
    } catch (YamlEngineException e) {
      errors.add(new ConfigError(file, "the file", "is not YAML: " + e.getMessage()));
    }
    return EMPTY;
  }

  private JsonValue value(String path, Node node, int depth) {
    if (depth > MAX_DEPTH) {
      errors.add(new ConfigError(place(node.getStartMark()), path, "is nested too deeply"));
      return EMPTY;
    }
    return switch (node) {
      case MappingNode mapping -> object(path, mapping, depth);
      case SequenceNode sequence -> list(path, sequence, depth);
      case ScalarNode scalar -> scalar(scalar);
      default -> new JsonValue.Null(JsonValue.Span.NOWHERE);
    };
  }

  private JsonValue object(String path, MappingNode mapping, int depth) {
    var members = new LinkedHashMap<String, JsonValue>();
    for (NodeTuple tuple : mapping.getValue()) {
      var where = place(tuple.getKeyNode().getStartMark());
      if (!(tuple.getKeyNode() instanceof ScalarNode name)) {
        errors.add(new ConfigError(where, path, "has a key that is no word"));
        continue;
      }
      var key = path.isEmpty() ? name.getValue() : path + "." + name.getValue();
      places.put(key, where);
      if (members.put(name.getValue(), value(key, tuple.getValueNode(), depth + 1)) != null) {
        errors.add(new ConfigError(where, key, "is given twice"));
      }
    }
    return new JsonValue.Obj(members, JsonValue.Span.NOWHERE);
  }

  private JsonValue list(String path, SequenceNode sequence, int depth) {
    var items = new ArrayList<JsonValue>();
    for (var item : sequence.getValue()) {
      var key = path + "[" + items.size() + "]";
      places.put(key, place(item.getStartMark()));
      items.add(value(key, item, depth + 1));
    }
    return new JsonValue.Arr(items, JsonValue.Span.NOWHERE);
  }

  private static JsonValue scalar(ScalarNode scalar) {
    var text = scalar.getValue();
    var tag = scalar.getTag();
    if (tag.equals(Tag.INT) || tag.equals(Tag.FLOAT)) {
      return new JsonValue.Num(text, JsonValue.Span.NOWHERE);
    }
    if (tag.equals(Tag.BOOL)) {
      return new JsonValue.Bool(Boolean.parseBoolean(text), JsonValue.Span.NOWHERE);
    }
    return isNull(scalar)
        ? new JsonValue.Null(JsonValue.Span.NOWHERE)
        : new JsonValue.Text(text, JsonValue.Span.NOWHERE);
  }

  private static boolean isNull(Node node) {
    return node.getTag().equals(Tag.NULL);
  }

  private String place(Optional<Mark> mark) {
    return mark.map(m -> file + ":" + (m.getLine() + 1) + ":" + (m.getColumn() + 1)).orElse(file);
  }
}
