package dev.sessionkeeper.server.http;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The inputs and answers of a route, for the API description and the checks before the handler.
 *
 * @param query the accepted parameters; any other one is refused
 * @param headers the request headers that the route reads; only described
 * @param request the body; empty for a route without one
 * @param answers the successful answers
 * @param problems the refusals of this route, in addition to those of every route
 */
record RouteDocs(
    String summary,
    List<Parameter> query,
    List<Parameter> headers,
    Optional<Body> request,
    List<Answer> answers,
    List<ProblemType> problems) {
  static final RouteDocs NONE =
      new RouteDocs("", List.of(), List.of(), Optional.empty(), List.of(), List.of());

  /**
   * A query parameter or a header.
   *
   * @param role the role required in addition to the role of the route
   */
  record Parameter(String name, String description, Role role) {}

  /**
   * A body: its media type and, if it is JSON, the record that describes it.
   *
   * @param isNeeded whether a request without it is refused, even if each field is optional
   */
  record Body(String mediaType, Optional<Class<?>> type, boolean isNeeded) {
    static Body json(Class<?> type) {
      return new Body("application/json", Optional.of(type), false);
    }

    static Body of(String mediaType) {
      return new Body(mediaType, Optional.empty(), true);
    }

    Body needed() {
      return new Body(mediaType, type, true);
    }
  }

  /** A successful answer. */
  record Answer(int status, String description, Optional<Body> body) {}

  RouteDocs summary(String text) {
    return new RouteDocs(text, query, headers, request, answers, problems);
  }

  RouteDocs query(Parameter parameter) {
    return new RouteDocs(summary, with(query, parameter), headers, request, answers, problems);
  }

  RouteDocs header(Parameter header) {
    return new RouteDocs(summary, query, with(headers, header), request, answers, problems);
  }

  RouteDocs request(Body body) {
    return new RouteDocs(summary, query, headers, Optional.of(body), answers, problems);
  }

  RouteDocs answer(Answer answer) {
    return new RouteDocs(summary, query, headers, request, with(answers, answer), problems);
  }

  RouteDocs problems(ProblemType... types) {
    return new RouteDocs(summary, query, headers, request, answers, List.of(types));
  }

  boolean takesQuery(String name) {
    return query.stream().anyMatch(parameter -> parameter.name().equals(name));
  }

  private static <T> List<T> with(List<T> list, T more) {
    var all = new ArrayList<>(list);
    all.add(more);
    return List.copyOf(all);
  }
}
