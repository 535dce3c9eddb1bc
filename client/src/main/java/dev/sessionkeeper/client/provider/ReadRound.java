package dev.sessionkeeper.client.provider;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.SessionId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/**
 * Reads the answer of a round in one pass. JSON bodies stay as their sender wrote them, byte by
 * byte.
 */
final class ReadRound {
  private static final JsonFactory JSON = new JsonFactory();

  private final byte[] source;
  private final JsonParser parser;

  private ReadRound(byte[] source, JsonParser parser) {
    this.source = source;
    this.parser = parser;
  }

  /** The answer of a round; the lists are in the order of the request. */
  record Answer(List<Outcome> settled, List<Renewed> renewed, List<Granted> sessions) {}

  record Outcome(String word, String detail) {
    boolean isSettled() {
      return word.equals("settled");
    }
  }

  /**
   * A renewal.
   *
   * @param until empty if the lease is lost
   */
  record Renewed(Optional<Instant> until) {}

  /** A session in hand with its next messages. */
  record Granted(
      String leaseId,
      SessionId session,
      long epoch,
      Instant lockedUntil,
      List<Delivery> messages) {}

  static Answer from(byte[] source) {
    try (var parser = JSON.createParser(ObjectReadContext.empty(), source)) {
      return new ReadRound(source, parser).answer();
    } catch (JacksonException e) {
      throw new KeeperException.Rejected("The server's answer is not JSON", e);
    }
  }

  private Answer answer() {
    var settled = new ArrayList<Outcome>();
    var renewed = new ArrayList<Renewed>();
    var sessions = new ArrayList<Granted>();
    parser.nextToken();
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      var name = parser.currentName();
      parser.nextToken();
      switch (name) {
        case "settled" -> {
          while (parser.nextToken() == JsonToken.START_OBJECT) {
            settled.add(outcome());
          }
        }
        case "renewed" -> {
          while (parser.nextToken() == JsonToken.START_OBJECT) {
            renewed.add(renewed());
          }
        }
        case "sessions" -> {
          while (parser.nextToken() == JsonToken.START_OBJECT) {
            sessions.add(granted());
          }
        }
        default -> parser.skipChildren();
      }
    }
    return new Answer(settled, renewed, sessions);
  }

  private Outcome outcome() {
    var word = "";
    var detail = "";
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      var name = parser.currentName();
      parser.nextToken();
      switch (name) {
        case "outcome" -> word = parser.getString();
        case "detail" -> detail = parser.getString();
        default -> parser.skipChildren();
      }
    }
    return new Outcome(word, detail);
  }

  private Renewed renewed() {
    var until = Optional.<Instant>empty();
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      var name = parser.currentName();
      parser.nextToken();
      switch (name) {
        case "lockedUntil" -> until = Optional.of(Instant.parse(parser.getString()));
        default -> parser.skipChildren();
      }
    }
    return new Renewed(until);
  }

  private Granted granted() {
    var leaseId = "";
    var session = "";
    long epoch = 0;
    var lockedUntil = Instant.EPOCH;
    var messages = new ArrayList<Delivery>();
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      var name = parser.currentName();
      parser.nextToken();
      switch (name) {
        case "leaseId" -> leaseId = parser.getString();
        case "sessionId" -> session = parser.getString();
        case "epoch" -> epoch = parser.getLongValue();
        case "lockedUntil" -> lockedUntil = Instant.parse(parser.getString());
        case "messages" -> {
          while (parser.nextToken() == JsonToken.START_OBJECT) {
            messages.add(delivery());
          }
        }
        default -> parser.skipChildren();
      }
    }
    return new Granted(leaseId, SessionId.of(session), epoch, lockedUntil, messages);
  }

  private Delivery delivery() {
    long sequence = 0;
    int attempt = 1;
    var enqueuedAt = Instant.EPOCH;
    var id = "";
    var session = Optional.<SessionId>empty();
    var type = "";
    var form = Payload.Form.BYTES;
    var bytes = new byte[0];
    var properties = Map.<String, String>of();
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      var name = parser.currentName();
      parser.nextToken();
      switch (name) {
        case "sequence" -> sequence = parser.getLongValue();
        case "attempt" -> attempt = parser.getIntValue();
        case "enqueuedAt" -> enqueuedAt = Instant.parse(parser.getString());
        case "messageId" -> id = parser.getString();
        case "sessionId" -> session = Optional.of(SessionId.of(parser.getString()));
        case "contentType" -> type = parser.getString();
        case "body" -> {
          form = Payload.Form.JSON;
          bytes = rawBody();
        }
        case "bodyText" -> {
          form = Payload.Form.TEXT;
          bytes = Payload.text(parser.getString()).unsafeBytes();
        }
        case "bodyBase64" -> bytes = Base64.getDecoder().decode(parser.getString());
        case "properties" -> properties = properties();
        default -> parser.skipChildren();
      }
    }
    var message =
        new Message(
            MessageId.of(id),
            session,
            Payload.stored(bytes, form, type),
            properties,
            Optional.empty(),
            Optional.empty());
    return new Delivery(message, sequence, attempt, enqueuedAt);
  }

  private Map<String, String> properties() {
    var all = new HashMap<String, String>();
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      var name = parser.currentName();
      parser.nextToken();
      all.put(name, parser.getString());
    }
    return all;
  }

  private byte[] rawBody() {
    int from = (int) parser.currentTokenLocation().getByteOffset();
    parser.skipChildren();
    parser.finishToken();
    int to = (int) parser.currentLocation().getByteOffset();
    // After a number, the parser has read one byte too many.
    while (to - 1 > from && (source[to - 1] == ',' || source[to - 1] <= ' ')) {
      to--;
    }
    return Arrays.copyOfRange(source, from, to);
  }
}
