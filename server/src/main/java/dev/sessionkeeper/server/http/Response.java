package dev.sessionkeeper.server.http;

import dev.sessionkeeper.server.json.Json;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The answer to a request. Immutable; the methods that add to it return a copy. */
public final class Response {
  /** The body of a response. */
  sealed interface Body {
    /**
     * A whole body.
     *
     * @param pieces its bytes, in their order
     */
    record Bytes(List<byte[]> pieces) implements Body {
      int size() {
        return pieces.stream().mapToInt(piece -> piece.length).sum();
      }

      /** Returns all bytes as one array. */
      byte[] whole() {
        if (pieces.size() == 1) {
          return pieces.getFirst();
        }
        var whole = new ByteArrayOutputStream(size());
        pieces.forEach(whole::writeBytes);
        return whole.toByteArray();
      }
    }

    record Streamed(StreamBody writer) implements Body {}
  }

  /** Writes a long response piece by piece, on the request's virtual thread. */
  @FunctionalInterface
  public interface StreamBody {
    void writeTo(ResponseStream out) throws Exception;

    /** Releases what the response holds. Called once, also if the writer failed. */
    default void ended() {}
  }

  private final int status;
  private final Map<String, String> headers;
  private final Body body;
  private final List<Runnable> ifUndelivered;

  private Response(
      int status, Map<String, String> headers, Body body, List<Runnable> ifUndelivered) {
    this.status = status;
    this.headers = headers;
    this.body = body;
    this.ifUndelivered = ifUndelivered;
  }

  /** 200 with a record (or map) as JSON. */
  public static Response ok(Object view) {
    return json(200, view);
  }

  /** Returns a response with a record (or map) as JSON. */
  public static Response created(Object view) {
    return json(201, view);
  }

  /** A record (or map) as JSON. */
  public static Response json(int status, Object view) {
    return pieces(status, "application/json", Json.writeInPieces(view));
  }

  public static Response noContent() {
    return new Response(204, Map.of(), new Body.Bytes(List.of()), List.of());
  }

  public static Response text(int status, String contentType, String text) {
    return bytes(status, contentType, text.getBytes(StandardCharsets.UTF_8));
  }

  public static Response bytes(int status, String contentType, byte[] bytes) {
    return pieces(status, contentType, List.of(bytes));
  }

  private static Response pieces(int status, String contentType, List<byte[]> pieces) {
    return new Response(
        status, Map.of("Content-Type", contentType), new Body.Bytes(pieces), List.of());
  }

  /** 200 with a body that is written piece by piece until the writer returns. */
  public static Response stream(String contentType, StreamBody writer) {
    return new Response(
        200, Map.of("Content-Type", contentType), new Body.Streamed(writer), List.of());
  }

  static Response of(Problem problem, String correlationId) {
    var response =
        bytes(
            problem.type().status(),
            "application/problem+json",
            Json.write(problem.document(correlationId)));
    for (var header : problem.headers().entrySet()) {
      response = response.header(header.getKey(), header.getValue());
    }
    return response;
  }

  public Response header(String name, String value) {
    var more = new LinkedHashMap<>(headers);
    more.put(name, value);
    return new Response(status, more, body, ifUndelivered);
  }

  /**
   * Returns a copy with a task that runs if the client disconnects before the response is written,
   * for example to release leases that the client does not know about.
   */
  public Response ifUndelivered(Runnable task) {
    var more = new ArrayList<>(ifUndelivered);
    more.add(task);
    return new Response(status, headers, body, more);
  }

  public int status() {
    return status;
  }

  Map<String, String> headers() {
    return headers;
  }

  Body body() {
    return body;
  }

  /** Returns how many bytes of memory the response holds. */
  int size() {
    return switch (body) {
      case Body.Bytes whole -> whole.size();
      case Body.Streamed stream -> 0;
    };
  }

  List<Runnable> undeliveredTasks() {
    return ifUndelivered;
  }
}
