package dev.sessionkeeper.documentation;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;

/** Writes the reference page of the HTTP API, from the OpenAPI document of a running server. */
final class DescribeApi {
  private static final List<String> METHODS = List.of("get", "put", "post", "delete", "patch");

  private final JsonNode document;
  private final StringBuilder text = new StringBuilder();

  private DescribeApi(JsonNode document) {
    this.document = document;
  }

  static String page(JsonNode openApi) {
    return new DescribeApi(openApi).write();
  }

  private String write() {
    text.append(
        """
        # HTTP API

        A running server describes itself at `/openapi.json` (OpenAPI 3.1); this page is that document as text. Requests and answers are JSON, times are RFC 3339,
        durations ISO 8601. A request with an unknown field is refused. Every refusal is a [problem](problems.md). Lists come in pages: pass `nextCursor`
        of one page as `cursor` of the next. [ADR 12](../explanation/adr/0012-http-api-evolution.md) says how the API changes.

        *Role* is what a credential needs; *scope* is what a bound credential may see
        ([roles and scopes](../explanation/security.md#roles-and-scopes)).
        """);
    groups()
        .forEach(
            (group, paths) -> {
              text.append("\n## ").append(group).append('\n');
              paths.forEach(this::path);
            });
    schemas();
    return text.toString();
  }

  private Map<String, List<String>> groups() {
    var groups = new TreeMap<String, List<String>>();
    document
        .path("paths")
        .propertyNames()
        .forEach(
            path -> {
              var first = path.split("/", -1)[1];
              groups
                  .computeIfAbsent(first.isEmpty() ? "Pages" : name(first), g -> new ArrayList<>())
                  .add(path);
            });
    return groups;
  }

  private static String name(String segment) {
    return segment.equals("openapi.json")
        ? "Description"
        : segment.substring(0, 1).toUpperCase(Locale.ROOT) + segment.substring(1);
  }

  private void path(String path) {
    for (var method : METHODS) {
      var operation = document.path("paths").path(path).path(method);
      if (!operation.isMissingNode()) {
        operation(method, path, operation);
      }
    }
  }

  private void operation(String method, String path, JsonNode operation) {
    text.append(
        "%n### %s %s%n%n%s. Role `%s`, scope `%s`.%n"
            .formatted(
                method.toUpperCase(Locale.ROOT),
                path,
                operation.path("summary").asString(),
                operation.path("x-role").asString(),
                operation.path("x-scope").asString()));
    parameters(operation.path("parameters"));
    var body = operation.path("requestBody").path("content");
    body.propertyNames()
        .forEach(
            type ->
                text.append(
                    "%nBody: %s (`%s`)%n".formatted(typeOf(body.path(type).path("schema")), type)));
    answers(operation.path("responses"));
  }

  private void parameters(JsonNode parameters) {
    var described = new ArrayList<JsonNode>();
    parameters.forEach(
        parameter -> {
          if (!parameter.path("in").asString().equals("path")) {
            described.add(parameter);
          }
        });
    if (described.isEmpty()) {
      return;
    }
    text.append("\n| parameter | in | meaning |\n|---|---|---|\n");
    for (var parameter : described) {
      text.append(
          "| `%s` | %s | %s |%n"
              .formatted(
                  parameter.path("name").asString(),
                  parameter.path("in").asString(),
                  parameter.path("description").asString("")));
    }
  }

  private void answers(JsonNode responses) {
    text.append("\n| answer | body | meaning |\n|---|---|---|\n");
    responses
        .propertyNames()
        .forEach(
            status -> {
              var response = responses.path(status);
              if (response.has("description")) {
                var content = response.path("content");
                var body = new ArrayList<String>();
                content
                    .propertyNames()
                    .forEach(
                        type -> {
                          var schema = typeOf(content.path(type).path("schema"));
                          body.add(schema.equals("any") ? "`" + type + "`" : schema);
                        });
                text.append(
                    "| %s | %s | %s |%n"
                        .formatted(
                            status,
                            body.isEmpty() ? "–" : String.join(", ", body),
                            response.path("description").asString()));
              }
            });
  }

  private void schemas() {
    text.append("\n## Objects\n");
    var schemas = document.path("components").path("schemas");
    schemas.propertyNames().stream()
        .sorted()
        .forEach(
            name -> {
              text.append("\n### ").append(name).append('\n');
              var schema = schemas.path(name);
              if (schema.has("description")) {
                text.append('\n').append(schema.path("description").asString()).append('\n');
              }
              text.append("\n| field | type | always present | meaning |\n|---|---|---|---|\n");
              var required = new ArrayList<String>();
              schema.path("required").forEach(field -> required.add(field.asString()));
              schema
                  .path("properties")
                  .propertyNames()
                  .forEach(
                      field ->
                          text.append(
                              "| `%s` | %s | %s | %s |%n"
                                  .formatted(
                                      field,
                                      typeOf(schema.path("properties").path(field)),
                                      required.contains(field) ? "yes" : "no",
                                      schema
                                          .path("properties")
                                          .path(field)
                                          .path("description")
                                          .asString("")
                                          .replace("|", "\\|"))));
            });
  }

  private static String typeOf(JsonNode schema) {
    if (schema.has("$ref")) {
      var name = schema.path("$ref").asString().replaceFirst(".*/", "");
      return "[%s](#%s)".formatted(name, Page.anchor(name));
    }
    if (schema.has("enum")) {
      var words = new ArrayList<String>();
      schema.path("enum").forEach(word -> words.add("`" + word.asString() + "`"));
      return String.join(", ", words);
    }
    var type = schema.path("type");
    if (type.isMissingNode()) {
      return "any";
    }
    if (type.isArray()) {
      var types = new ArrayList<String>();
      type.forEach(one -> types.add(one.asString()));
      return String.join(" or ", types);
    }
    return switch (type.asString()) {
      case "array" -> "list of " + typeOf(schema.path("items"));
      case "object" ->
          schema.has("additionalProperties")
              ? "map of " + typeOf(schema.path("additionalProperties"))
              : "object";
      default ->
          schema.has("format")
              ? type.asString() + ", " + schema.path("format").asString()
              : type.asString();
    };
  }
}
