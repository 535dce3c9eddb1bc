package dev.sessionkeeper.server.http;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;

/** JSON schemas of the records that travel. An Optional component need not be there. */
final class Schemas {
  private static final Map<Class<?>, Map<String, Object>> SIMPLE =
      Map.ofEntries(
          Map.entry(String.class, Map.of("type", "string")),
          Map.entry(int.class, Map.of("type", "integer", "format", "int32")),
          Map.entry(Integer.class, Map.of("type", "integer", "format", "int32")),
          Map.entry(long.class, Map.of("type", "integer", "format", "int64")),
          Map.entry(Long.class, Map.of("type", "integer", "format", "int64")),
          Map.entry(java.math.BigDecimal.class, Map.of("type", "number")),
          Map.entry(boolean.class, Map.of("type", "boolean")),
          Map.entry(Boolean.class, Map.of("type", "boolean")),
          Map.entry(Instant.class, Map.of("type", "string", "format", "date-time")),
          Map.entry(Duration.class, Map.of("type", "string", "format", "duration")),
          Map.entry(UUID.class, Map.of("type", "string", "format", "uuid")),
          Map.entry(byte[].class, Map.of("type", "string", "contentEncoding", "base64")));

  private final Map<String, Object> named = new TreeMap<>();

  /** A reference to the schema of this record; the schema itself is kept. */
  Map<String, Object> of(Class<?> type) {
    var name = nameOf(type);
    if (!named.containsKey(name)) {
      named.put(name, Map.of()); // A type that holds itself finds its name taken.
      named.put(name, object(type));
    }
    return Map.of("$ref", "#/components/schemas/" + name);
  }

  Map<String, Object> all() {
    return named;
  }

  /** The JSON name of a component. */
  static String jsonName(RecordComponent component) {
    // The annotation targets fields and methods; the compiler copies it from the component to both.
    var renamed = component.getAccessor().getAnnotation(JsonProperty.class);
    return renamed == null ? component.getName() : renamed.value();
  }

  private Map<String, Object> object(Class<?> type) {
    var properties = new LinkedHashMap<String, Object>();
    var required = new ArrayList<String>();
    for (var component : type.getRecordComponents()) {
      properties.put(jsonName(component), schema(component.getGenericType()));
      if (component.getType() != Optional.class) {
        required.add(jsonName(component));
      }
    }
    return Map.of("type", "object", "properties", properties, "required", List.copyOf(required));
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
    // RawJson and JsonValue: any JSON value at all.
    return isAnyJson(plain) ? Map.of() : of(plain);
  }

  private static boolean isAnyJson(Class<?> type) {
    return type.getPackageName().equals("dev.sessionkeeper.server.json");
  }

  private static String nameOf(Class<?> type) {
    var outer = type.getEnclosingClass();
    return outer == null ? type.getSimpleName() : nameOf(outer) + type.getSimpleName();
  }
}
