package dev.sessionkeeper.server.http;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Describes a route table as OpenAPI 3.1. What is not in the table is not in the document. Types
 * come from the records of the routes, texts and bounds from {@link ApiWords}.
 */
public final class OpenApi {
  private static final String PROBLEM = "application/problem+json";

  private final Schemas schemas = new Schemas();
  private final ApiWords words = ApiWords.get();

  private OpenApi() {}

  public static Map<String, Object> describe(List<Route> routes, String version) {
    return inStableOrder(new OpenApi().document(routes, version));
  }

  /** Sorts unordered maps by name, so that every run gives the same document. */
  private static Map<String, Object> inStableOrder(Map<?, ?> map) {
    Map<String, Object> ordered =
        map instanceof LinkedHashMap<?, ?> ? new LinkedHashMap<>() : new TreeMap<>();
    map.forEach((name, value) -> ordered.put(String.valueOf(name), stable(value)));
    return ordered;
  }

  private static Object stable(Object value) {
    if (value instanceof Map<?, ?> map) {
      return inStableOrder(map);
    }
    return value instanceof List<?> list ? list.stream().map(OpenApi::stable).toList() : value;
  }

  private Map<String, Object> document(List<Route> routes, String version) {
    var paths = new TreeMap<String, Map<String, Object>>();
    for (var route : routes) {
      if (route.isPage()) {
        continue;
      }
      paths
          .computeIfAbsent(route.path(), path -> new TreeMap<>())
          .put(route.method().toLowerCase(java.util.Locale.ROOT), operation(route));
    }
    var document = new LinkedHashMap<String, Object>();
    document.put("openapi", "3.1.0");
    document.put(
        "info",
        Map.of(
            "title",
            "Sessionkeeper",
            "version",
            version,
            "description",
            "Everything about one thing, in order, by one owner at a time.",
            "license",
            Map.of("name", "Apache License 2.0", "identifier", "Apache-2.0")));
    document.put(
        "servers", List.of(Map.of("url", "/", "description", "The server of this document")));
    document.put("tags", tags());
    document.put("paths", paths);
    document.put("components", components());
    return document;
  }

  private List<Map<String, String>> tags() {
    return words.tags().entrySet().stream()
        .map(tag -> Map.of("name", tag.getKey(), "description", tag.getValue()))
        .toList();
  }

  private Map<String, Object> components() {
    var named = new TreeMap<>(schemas.all());
    named.put("Problem", DescribeProblems.schema());
    return Map.of(
        "schemas",
        named,
        "securitySchemes",
        Map.of(
            "bearer",
            Map.of(
                "type",
                "http",
                "scheme",
                "bearer",
                "description",
                "An API key, or a JWT of the configured issuer")));
  }

  private Map<String, Object> operation(Route route) {
    var docs = route.docs();
    var operation = new LinkedHashMap<String, Object>();
    operation.put("summary", docs.summary());
    operation.put("operationId", operationId(route));
    operation.put("tags", List.of(words.tagOf(route.path())));
    operation.put("x-role", route.role().key());
    operation.put("x-scope", route.scope().key());
    operation.put(
        "security", route.role() == Role.ANYONE ? List.of() : List.of(Map.of("bearer", List.of())));
    operation.put("parameters", parameters(route));
    docs.request()
        .ifPresent(
            body ->
                operation.put(
                    "requestBody",
                    Map.of("required", schemas.isNeeded(body), "content", content(body))));
    operation.put("responses", responses(route));
    return operation;
  }

  private static String operationId(Route route) {
    var words = new StringBuilder(route.method().toLowerCase(java.util.Locale.ROOT));
    for (var part : route.path().split("[^A-Za-z0-9]+", -1)) {
      if (!part.isEmpty()) {
        words.append(Character.toUpperCase(part.charAt(0))).append(part.substring(1));
      }
    }
    return words.toString();
  }

  private List<Map<String, Object>> parameters(Route route) {
    var parameters = new java.util.ArrayList<Map<String, Object>>();
    for (var name : route.template().parameters()) {
      var path = new RouteDocs.Parameter(name, "", Role.ANYONE);
      parameters.add(parameter(route, "path", path));
    }
    for (var query : route.docs().query()) {
      parameters.add(parameter(route, "query", query));
    }
    for (var header : route.docs().headers()) {
      parameters.add(parameter(route, "header", header));
    }
    return parameters;
  }

  private Map<String, Object> parameter(Route route, String in, RouteDocs.Parameter described) {
    var schema = new LinkedHashMap<String, Object>();
    schema.put("type", "string");
    schema.putAll(words.parameter(route.toString(), described.name()));
    var description = schema.remove("description");
    var parameter = new LinkedHashMap<String, Object>();
    parameter.put("name", described.name());
    parameter.put("in", in);
    parameter.put("required", in.equals("path"));
    if (!described.description().isEmpty()) {
      parameter.put("description", described.description());
    } else if (description != null) {
      parameter.put("description", description);
    }
    if (described.role() != Role.ANYONE) {
      parameter.put("x-role", described.role().key());
    }
    parameter.put("schema", schema);
    return parameter;
  }

  private Map<String, Object> responses(Route route) {
    var responses = new TreeMap<String, Object>();
    for (var answer : route.docs().answers()) {
      var status = String.valueOf(answer.status());
      responses.merge(status, response(answer), OpenApi::inOneOfBothForms);
    }
    DescribeProblems.of(route)
        .forEach(
            (status, description) ->
                responses.putIfAbsent(
                    status, Map.of("description", description, "content", problem())));
    return responses;
  }

  private Map<String, Object> response(RouteDocs.Answer answer) {
    var response = new LinkedHashMap<String, Object>();
    response.put("description", answer.description());
    answer.body().ifPresent(body -> response.put("content", content(body)));
    return response;
  }

  /** Returns the schema of an answer with two media types; the caller chooses one by Accept. */
  private static Object inOneOfBothForms(Object first, Object second) {
    var both = new LinkedHashMap<String, Object>();
    var content = new LinkedHashMap<String, Object>();
    for (var form : List.of(first, second)) {
      if (form instanceof Map<?, ?> response) {
        both.putIfAbsent("description", response.get("description"));
        if (response.get("content") instanceof Map<?, ?> types) {
          types.forEach((type, schema) -> content.put(String.valueOf(type), schema));
        }
      }
    }
    both.put("content", content);
    return both;
  }

  /**
   * Returns the content of a body. A body without a record is text or bytes; one of several types
   * names them all.
   */
  private Map<String, Object> content(RouteDocs.Body body) {
    var content = new LinkedHashMap<String, Object>();
    for (var mediaType : body.mediaType().split(" or ", -1)) {
      var schema = body.type().map(schemas::of).orElseGet(() -> plain(mediaType));
      content.put(mediaType, Map.of("schema", schema));
    }
    return content;
  }

  private static Map<String, Object> plain(String mediaType) {
    return switch (mediaType) {
      case "application/json", "application/x-www-form-urlencoded" -> Map.of("type", "object");
      case "application/octet-stream" -> Map.of("type", "string", "format", "binary");
      default -> Map.of("type", "string");
    };
  }

  private static Map<String, Object> problem() {
    return Map.of(PROBLEM, Map.of("schema", Map.of("$ref", "#/components/schemas/Problem")));
  }
}
