package dev.sessionkeeper.benchmarks.http;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/**
 * Reads the part of a work answer that a worker needs. Bodies stay bytes, as they do in direct use.
 */
final class ReadWorkAnswer {
  private static final JsonFactory JSON = new JsonFactory();

  private final byte[] source;
  private final JsonParser parser;
  private final List<String> refused = new ArrayList<>();
  private final List<Session> sessions = new ArrayList<>();

  private ReadWorkAnswer(byte[] source, JsonParser parser) {
    this.source = source;
    this.parser = parser;
  }

  /**
   * An answer.
   *
   * @param refused outcomes of settlements that changed nothing
   */
  record Answer(List<String> refused, List<Session> sessions) {}

  record Session(String leaseId, List<Delivery> messages) {}

  /**
   * A message.
   *
   * @param source the answer, in which the body is
   */
  record Delivery(long sequence, byte[] source, int from, int to) {
    String body() {
      return new String(source, from, to - from, StandardCharsets.UTF_8).strip();
    }
  }

  static Answer from(byte[] source) {
    try (var parser = JSON.createParser(ObjectReadContext.empty(), source)) {
      var read = new ReadWorkAnswer(source, parser);
      parser.nextToken();
      while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
        read.member();
      }
      return new Answer(read.refused, read.sessions);
    }
  }

  private void member() {
    var name = parser.currentName();
    parser.nextToken();
    switch (name) {
      case "settled" -> {
        while (parser.nextToken() == JsonToken.START_OBJECT) {
          settled();
        }
      }
      case "sessions" -> {
        while (parser.nextToken() == JsonToken.START_OBJECT) {
          sessions.add(session());
        }
      }
      default -> parser.skipChildren();
    }
  }

  private void settled() {
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      boolean isOutcome = parser.currentName().equals("outcome");
      parser.nextToken();
      if (isOutcome && !parser.getString().equals("settled")) {
        refused.add(parser.getString());
      }
    }
  }

  private Session session() {
    var leaseId = "";
    var messages = new ArrayList<Delivery>();
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      var name = parser.currentName();
      parser.nextToken();
      switch (name) {
        case "leaseId" -> leaseId = parser.getString();
        case "messages" -> {
          while (parser.nextToken() == JsonToken.START_OBJECT) {
            messages.add(delivery());
          }
        }
        default -> parser.skipChildren();
      }
    }
    return new Session(leaseId, messages);
  }

  private Delivery delivery() {
    long sequence = 0;
    int from = 0;
    int to = 0;
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      var name = parser.currentName();
      parser.nextToken();
      switch (name) {
        case "sequence" -> sequence = parser.getLongValue();
        case "body" -> {
          from = (int) parser.currentTokenLocation().getByteOffset();
          parser.skipChildren();
          parser.finishToken();
          to = endOfValue((int) parser.currentLocation().getByteOffset());
        }
        default -> parser.skipChildren();
      }
    }
    return new Delivery(sequence, source, from, to);
  }

  /** Returns the end of a value. After a number, the parser has read one byte too many. */
  private int endOfValue(int read) {
    return source[read - 1] == ',' ? read - 1 : read;
  }
}
