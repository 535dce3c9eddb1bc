package dev.sessionkeeper.server.http;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.sessionkeeper.QueueSetting;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;

/**
 * JSON schemas of the records in requests and answers. An Optional component is an optional field.
 */
final class Schemas {
  private static final Map<Class<?>, Map<String, Object>> SIMPLE =
      Map.ofEntries(
          Map.entry(String.class, Map.of("type", "string")),
          Map.entry(int.class, Map.of("type", "integer", "format", "int32")),
          Map.entry(Integer.class, Map.of("type", "integer", "format", "int32")),
          Map.entry(long.class, Map.of("type", "integer", "format", "int64")),
          Map.entry(Long.class, Map.of("type", "integer", "format", "int64")),
          Map.entry(java.math.BigDecimal.class, Map.of("type", "number", "format", "decimal")),
          Map.entry(double.class, Map.of("type", "number", "format", "double")),
          Map.entry(Double.class, Map.of("type", "number", "format", "double")),
          Map.entry(boolean.class, Map.of("type", "boolean")),
          Map.entry(Boolean.class, Map.of("type", "boolean")),
          Map.entry(Instant.class, Map.of("type", "string", "format", "date-time")),
          Map.entry(Duration.class, Map.of("type", "string", "format", "duration")),
          Map.entry(UUID.class, Map.of("type", "string", "format", "uuid")),
          Map.entry(byte[].class, Map.of("type", "string", "contentEncoding", "base64")));

  private final Map<String, Object> named = new TreeMap<>();
  private final Map<String, Class<?>> types = new HashMap<>();
  private final ApiWords words = ApiWords.get();

  /**
   * Returns a reference to the schema of this record, and registers the schema.
   *
   * @throws IllegalStateException if another record has the same name, because one of both would be
   *     lost
   */
  Map<String, Object> of(Class<?> type) {
    var name = nameOf(type);
    var known = types.putIfAbsent(name, type);
    if (known != null && known != type) {
      throw new IllegalStateException(
          "Two records would be the schema " + name + ": " + known + " and " + type);
    }
    if (known == null) {
      named.put(name, Map.of()); // A recursive type finds its own name registered.
      named.put(name, object(type));
    }
    return Map.of("$ref", "#/components/schemas/" + name);
  }

  Map<String, Object> all() {
    return named;
  }

  /** Returns whether a request must have this body. An object with required fields is needed. */
  boolean isNeeded(RouteDocs.Body body) {
    return body.isNeeded()
        || Arrays.stream(body.type().get().getRecordComponents())
            .anyMatch(component -> component.getType() != Optional.class);
  }

  /** Returns the JSON name of a record component. */
  static String jsonName(RecordComponent component) {
    // The annotation targets fields and methods; the compiler copies it from the component to both.
    var renamed = component.getAccessor().getAnnotation(JsonProperty.class);
    return renamed == null ? component.getName() : renamed.value();
  }

  private Map<String, Object> object(Class<?> type) {
    var properties = new LinkedHashMap<String, Object>();
    var required = new ArrayList<String>();
    addMembers(type, nameOf(type), properties, required);
    var schema = new LinkedHashMap<String, Object>();
    schema.put("type", "object");
    words.schema(nameOf(type)).ifPresent(text -> schema.put("description", text));
    schema.put("properties", properties);
    if (!required.isEmpty()) {
      schema.put("required", List.copyOf(required));
    }
    return schema;
  }

  private void addMembers(
      Class<?> type, String owner, Map<String, Object> properties, List<String> required) {
    for (var component : type.getRecordComponents()) {
      var name = jsonName(component);
      if (component.getAccessor().isAnnotationPresent(JsonUnwrapped.class)) {
        addUnwrapped(component, owner, properties, required);
      } else {
        properties.put(name, worded(schema(component.getGenericType()), words.field(owner, name)));
        if (component.getType() != Optional.class) {
          required.add(name);
        }
      }
    }
  }

  /**
   * Adds the queue settings as optional fields, in place of the map that holds the settings in the
   * request.
   */
  private void addUnwrapped(
      RecordComponent component,
      String owner,
      Map<String, Object> properties,
      List<String> required) {
    if (component.getType() != Map.class) {
      addMembers(component.getType(), owner, properties, required);
      return;
    }
    for (var setting : QueueSetting.all()) {
      var type = setting.initially().getClass();
      properties.put(setting.name(), worded(schema(type), words.field(owner, setting.name())));
    }
  }

  private static Map<String, Object> worded(
      Map<String, Object> schema, Map<String, Object> keywords) {
    var worded = new LinkedHashMap<>(schema);
    worded.putAll(keywords);
    return worded;
  }

  private Map<String, Object> schema(Type type) {
    if (type instanceof ParameterizedType generic) {
      var arguments = generic.getActualTypeArguments();
      if (generic.getRawType() == Optional.class) {
        return schema(arguments[0]);
      }
      return generic.getRawType() == List.class
          ? Map.of("type", "array", "items", schema(arguments[0]))
          : Map.of("type", "object", "additionalProperties", schema(arguments[1]));
    }
    var plain = (Class<?>) type;
    if (SIMPLE.containsKey(plain)) {
      return SIMPLE.get(plain);
    }
    if (plain.isEnum()) {
      var words = Arrays.stream(plain.getEnumConstants()).map(Object::toString).toList();
      return Map.of("type", "string", "enum", words);
    }
    // RawJson and JsonValue stand for any JSON value.
    return isAnyJson(plain) ? Map.of() : of(plain);
  }

  private static boolean isAnyJson(Class<?> type) {
    return type.getPackageName().equals("dev.sessionkeeper.server.json");
  }

  /**
   * Returns the schema's name. A record inside a class with routes is named by the subject of the
   * routes, not by the class.
   */
  private static String nameOf(Class<?> type) {
    var outer = type.getEnclosingClass();
    return outer == null
        ? type.getSimpleName()
        : nameOf(outer).replaceFirst("Routes$", "") + type.getSimpleName();
  }
}
