package dev.sessionkeeper.client;

import java.util.ArrayList;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/** Reports that the server refused a call, and why (RFC 9457). */
public final class ProblemException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final int status;
  private final String type;
  private final transient JsonNode document;

  private ProblemException(int status, String type, String message, JsonNode document) {
    super(message);
    this.status = status;
    this.type = type;
    this.document = document;
  }

  static ProblemException of(int status, byte[] body) {
    var document = read(body);
    var type = lastSegment(document.path("type").asString(""));
    var errors = document.path("errors");
    var message = new StringBuilder();
    message.append(
        document.path("detail").asString(document.path("title").asString("HTTP " + status)));
    // The detail of a single error says everything.
    for (var error : errors.size() > 1 ? errors : List.<JsonNode>of()) {
      message
          .append("\n  ")
          .append(error.path("field").asString(""))
          .append(": ")
          .append(error.path("reason").asString(""));
    }
    return new ProblemException(status, type, message.toString(), document);
  }

  public int status() {
    return status;
  }

  /**
   * Returns the last part of the problem's type, such as {@code session-locked}; empty if the
   * answer had none.
   */
  public String type() {
    return type;
  }

  public boolean is(String problem) {
    return type.equals(problem);
  }

  /** Returns a member of the problem document as text; empty if there is none. */
  public String member(String name) {
    return document.path(name).asString("");
  }

  /** Returns the whole answer; a missing node if it was no JSON. */
  public JsonNode document() {
    return document;
  }

  /** Returns the names of the invalid fields. */
  public List<String> fields() {
    var fields = new ArrayList<String>();
    document.path("errors").forEach(error -> fields.add(error.path("field").asString("")));
    return fields;
  }

  private static JsonNode read(byte[] body) {
    try {
      return body.length == 0
          ? KeeperClient.json().missingNode()
          : KeeperClient.json().readTree(body);
    } catch (JacksonException e) {
      return KeeperClient.json().missingNode();
    }
  }

  private static String lastSegment(String type) {
    return type.substring(type.lastIndexOf('/') + 1);
  }
}
