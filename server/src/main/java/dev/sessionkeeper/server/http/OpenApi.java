package dev.sessionkeeper.server.http;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Describes a route table as OpenAPI 3.1. What is not in the table is not in the document. */
public final class OpenApi {
  private final Schemas schemas = new Schemas();

  private OpenApi() {}

  public static Map<String, Object> describe(List<Route> routes, String version) {
    return new OpenApi().document(routes, version);
  }

  private Map<String, Object> document(List<Route> routes, String version) {
    var paths = new TreeMap<String, Map<String, Object>>();
    for (var route : routes) {
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
            "Everything about one thing, in order, by one owner at a time."));
    document.put("paths", paths);
    document.put(
        "components",
        Map.of(
            "schemas",
            schemas.all(),
            "responses",
            Map.of("Problem", problemResponse()),
            "securitySchemes",
            Map.of("bearer", Map.of("type", "http", "scheme", "bearer"))));
    return document;
  }

  private Map<String, Object> operation(Route route) {
    var docs = route.docs();
    var operation = new LinkedHashMap<String, Object>();
    operation.put("summary", docs.summary());
    operation.put("operationId", operationId(route));
    operation.put("x-role", route.role().key());
    operation.put("x-scope", route.scope().key());
    operation.put(
        "security", route.role() == Role.ANYONE ? List.of() : List.of(Map.of("bearer", List.of())));
    operation.put("parameters", parameters(route));
    docs.request()
        .ifPresent(body -> operation.put("requestBody", Map.of("content", content(body))));
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

  private static List<Map<String, Object>> parameters(Route route) {
    var parameters = new java.util.ArrayList<Map<String, Object>>();
    for (var name : route.template().parameters()) {
      var path = new RouteDocs.Parameter(name, "", Role.ANYONE);
      parameters.add(parameter("path", path, true));
    }
    for (var query : route.docs().query()) {
      parameters.add(parameter("query", query, false));
    }
    for (var header : route.docs().headers()) {
      parameters.add(parameter("header", header, false));
    }
    return parameters;
  }

  private static Map<String, Object> parameter(
      String in, RouteDocs.Parameter described, boolean required) {
    var parameter = new LinkedHashMap<String, Object>();
    parameter.put("name", described.name());
    parameter.put("in", in);
    parameter.put("required", required);
    if (!described.description().isEmpty()) {
      parameter.put("description", described.description());
    }
    if (described.role() != Role.ANYONE) {
      parameter.put("x-role", described.role().key());
    }
    parameter.put("schema", Map.of("type", "string"));
    return parameter;
  }

  private Map<String, Object> responses(Route route) {
    var responses = new LinkedHashMap<String, Object>();
    for (var answer : route.docs().answers()) {
      var response = new LinkedHashMap<String, Object>();
      response.put("description", answer.description());
      answer.body().ifPresent(body -> response.put("content", content(body)));
      responses.put(String.valueOf(answer.status()), response);
    }
    for (var problem : route.docs().problems()) {
      responses.put(
          String.valueOf(problem.status()), Map.of("$ref", "#/components/responses/Problem"));
    }
    responses.put("default", Map.of("$ref", "#/components/responses/Problem"));
    return responses;
  }

  private Map<String, Object> content(RouteDocs.Body body) {
    return Map.of(
        body.mediaType(),
        body.type()
            .map(type -> Map.<String, Object>of("schema", schemas.of(type)))
            .orElse(Map.of()));
  }

  private static Map<String, Object> problemResponse() {
    var fieldError =
        Map.of(
            "type",
            "object",
            "properties",
            Map.of("field", Map.of("type", "string"), "reason", Map.of("type", "string")));
    var schema =
        Map.of(
            "type",
            "object",
            "required",
            List.of("type", "title", "status", "detail"),
            "properties",
            Map.of(
                "type", Map.of("type", "string", "format", "uri"),
                "title", Map.of("type", "string"),
                "status", Map.of("type", "integer"),
                "detail", Map.of("type", "string"),
                "correlationId", Map.of("type", "string"),
                "errors", Map.of("type", "array", "items", fieldError)));
    return Map.of(
        "description",
        "Why it was not done",
        "content",
        Map.of("application/problem+json", Map.of("schema", schema)));
  }
}
