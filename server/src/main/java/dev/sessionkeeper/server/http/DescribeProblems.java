package dev.sessionkeeper.server.http;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Describes the error answers: one schema for all problems, and per route the statuses with their
 * problem types.
 */
final class DescribeProblems {
  private static final String DEFAULT = "default";

  private DescribeProblems() {}

  /** Returns the refusals of a route by status. Every route may return the common ones. */
  static Map<String, String> of(Route route) {
    var types = new LinkedHashSet<ProblemType>();
    types.add(ProblemType.INVALID_REQUEST);
    if (route.role() != Role.ANYONE) {
      types.addAll(List.of(ProblemType.UNAUTHENTICATED, ProblemType.FORBIDDEN));
    }
    if (!route.template().parameters().isEmpty()) {
      types.add(ProblemType.NOT_FOUND);
    }
    types.addAll(route.docs().problems());
    var byStatus = new TreeMap<String, List<ProblemType>>();
    for (var type : types) {
      byStatus.computeIfAbsent(String.valueOf(type.status()), s -> new ArrayList<>()).add(type);
    }
    var described = new TreeMap<String, String>();
    byStatus.forEach((status, some) -> described.put(status, text(some)));
    described.put(DEFAULT, "Another problem of the catalogue");
    return described;
  }

  private static String text(List<ProblemType> types) {
    return types.stream()
        .map(type -> "`" + type.slug() + "`: " + type.title() + ". " + type.advice())
        .collect(Collectors.joining("\n\n"));
  }

  /**
   * Returns the JSON schema of every error answer (RFC 9457). A problem type may add fields of its
   * own.
   */
  static Map<String, Object> schema() {
    var properties = new TreeMap<String, Object>();
    properties.put(
        "type",
        Map.of(
            "type",
            "string",
            "format",
            "uri",
            "description",
            "Names the problem. Clients branch on this field, never on the texts.",
            "enum",
            Arrays.stream(ProblemType.values()).map(ProblemType::uri).toList()));
    properties.put(
        "title", text("What is wrong, the same for all problems of the type", "Unknown queue"));
    properties.put(
        "status",
        Map.of(
            "type",
            "integer",
            "description",
            "The HTTP status of the answer",
            "examples",
            List.of(404)));
    properties.put(
        "detail",
        text("What is wrong with this request, and what to do", "There is no queue ordres"));
    properties.put(
        "correlationId", text("Names the request in the logs of the server", "01JH5Q4X"));
    properties.put("errors", errors());
    return Map.of(
        "type",
        "object",
        "description",
        "Why the server refused a request, RFC 9457",
        "required",
        List.of("type", "title", "status", "detail", "correlationId"),
        "properties",
        properties,
        "additionalProperties",
        true);
  }

  private static Map<String, Object> errors() {
    return Map.of(
        "type",
        "array",
        "description",
        "Every field that is wrong",
        "examples",
        List.of(List.of(Map.of("field", "messages[0].sessionId", "reason", "is missing"))),
        "items",
        Map.of(
            "type",
            "object",
            "required",
            List.of("field", "reason"),
            "properties",
            Map.of(
                "field", text("The path of the field", "messages[0].sessionId"),
                "reason",
                    text("What is wrong with the field, and what is allowed", "is missing"))));
  }

  private static Map<String, Object> text(String description, String example) {
    return Map.of("type", "string", "description", description, "examples", List.of(example));
  }
}
