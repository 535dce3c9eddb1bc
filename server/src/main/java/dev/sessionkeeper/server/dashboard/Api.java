package dev.sessionkeeper.server.dashboard;

import dev.sessionkeeper.server.http.CallApi;
import dev.sessionkeeper.server.http.ProblemException;
import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.json.Json;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Calls the API as the reader of a page. */
final class Api {
  /**
   * Refusals by which the API says that a part of a page does not exist for this reader or this
   * store.
   */
  private static final Set<ProblemType> NOT_FOR_THEM =
      Set.of(ProblemType.FORBIDDEN, ProblemType.NOT_FOUND, ProblemType.NOT_SUPPORTED);

  private final CallApi calls;

  Api(CallApi calls) {
    this.calls = calls;
  }

  /** Query parameters in their order, without the blank ones. */
  static Map<String, String> query(String... namesAndValues) {
    var query = new LinkedHashMap<String, String>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      if (!namesAndValues[i + 1].isBlank()) {
        query.put(namesAndValues[i], namesAndValues[i + 1]);
      }
    }
    return query;
  }

  Data get(Request request, Map<String, String> query, String... path) throws Exception {
    return Data.of(calls.call(request, "GET", List.of(path), query, new byte[0]));
  }

  byte[] bytes(Request request, String... path) throws Exception {
    return calls.call(request, "GET", List.of(path), Map.of(), new byte[0]);
  }

  /** Returns a whole response, which may be a stream. */
  Response answer(Request request, Map<String, String> query, String... path) throws Exception {
    return calls.answer(request, "GET", List.of(path), query, new byte[0]);
  }

  /** Returns the answer for a part of a page that not every reader and not every store has. */
  Optional<Data> find(Request request, Map<String, String> query, String... path) throws Exception {
    try {
      return Optional.of(get(request, query, path));
    } catch (ProblemException e) {
      if (NOT_FOR_THEM.contains(e.problem().type())) {
        return Optional.empty();
      }
      throw e;
    }
  }

  Data send(Request request, String method, Map<String, ?> body, String... path) throws Exception {
    var bytes = body.isEmpty() ? new byte[0] : Json.write(body);
    return Data.of(calls.call(request, method, List.of(path), Map.of(), bytes));
  }

  Data post(Request request, Map<String, ?> body, String... path) throws Exception {
    return send(request, "POST", body, path);
  }

  boolean has(String method, String path) {
    return calls.has(method, path);
  }
}
