package dev.sessionkeeper.server.http;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The path and query of a request, parsed strictly from the raw form. Any spelling that two parsers
 * could read differently is refused, so that no check can be bypassed.
 *
 * @param path the decoded segments
 * @param query the decoded parameters, in order; none is repeated
 */
record RequestTarget(List<String> path, Map<String, String> query) {

  /**
   * Reads a request target.
   *
   * @throws ProblemException for bad escapes, control characters, invalid UTF-8, dot segments,
   *     escaped slashes and repeated parameters
   */
  static RequestTarget parse(String target) {
    if (!target.startsWith("/")) {
      throw invalidPath("it must begin with '/'");
    }
    int mark = target.indexOf('?');
    var rawPath = mark < 0 ? target : target.substring(0, mark);
    return new RequestTarget(
        readPath(rawPath), mark < 0 ? Map.of() : readQuery(target.substring(mark + 1)));
  }

  private static List<String> readPath(String raw) {
    if (raw.equals("/")) {
      return List.of();
    }
    var segments = new ArrayList<String>();
    for (var part : raw.substring(1).split("/", -1)) {
      var segment = decodeSegment(part);
      if (segment.equals(".") || segment.equals("..")) {
        throw invalidPath("it has a dot segment");
      }
      if (segment.indexOf('/') >= 0 || segment.indexOf('\\') >= 0) {
        throw invalidPath("a segment holds a slash");
      }
      segments.add(segment);
    }
    return segments;
  }

  private static String decodeSegment(String part) {
    try {
      return decode(part, false);
    } catch (Malformed e) {
      throw invalidPath(e.getMessage());
    }
  }

  private static Map<String, String> readQuery(String raw) {
    var parameters = new LinkedHashMap<String, String>();
    if (raw.isEmpty()) {
      return parameters;
    }
    for (var pair : raw.split("&", -1)) {
      int equals = pair.indexOf('=');
      var rawName = equals < 0 ? pair : pair.substring(0, equals);
      var name = decodeQuery("query", rawName);
      var value = equals < 0 ? "" : decodeQuery(name, pair.substring(equals + 1));
      if (parameters.put(name, value) != null) {
        throw Problem.invalid(name, "is given twice").toException();
      }
    }
    return parameters;
  }

  private static String decodeQuery(String field, String raw) {
    try {
      return decode(raw, true);
    } catch (Malformed e) {
      throw Problem.invalid(field, e.getMessage()).toException();
    }
  }

  private static String decode(String raw, boolean plusIsSpace) throws Malformed {
    var bytes = new ByteArrayOutputStream(raw.length());
    for (int i = 0; i < raw.length(); i++) {
      char c = raw.charAt(i);
      if (c == '%') {
        bytes.write(hex(raw, i + 1) << 4 | hex(raw, i + 2));
        i += 2;
      } else if (c <= 0x20 || c >= 0x7f) {
        throw new Malformed("has a character that must be escaped");
      } else {
        bytes.write(plusIsSpace && c == '+' ? ' ' : c);
      }
    }
    return utf8(bytes.toByteArray());
  }

  private static int hex(String raw, int at) throws Malformed {
    int digit = at < raw.length() ? Character.digit(raw.charAt(at), 16) : -1;
    if (digit < 0) {
      throw new Malformed("has a bad escape");
    }
    return digit;
  }

  private static String utf8(byte[] bytes) throws Malformed {
    try {
      var text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
      if (text.chars().anyMatch(Character::isISOControl)) {
        throw new Malformed("has a control character");
      }
      return text;
    } catch (CharacterCodingException e) {
      throw new Malformed("is not UTF-8");
    }
  }

  private static ProblemException invalidPath(String why) {
    return ProblemType.INVALID_PATH.with("The path is refused: " + why).toException();
  }

  /** Reports a part that cannot be decoded, and why. */
  private static final class Malformed extends Exception {
    private static final long serialVersionUID = 1;

    Malformed(String why) {
      super(why, null, false, false);
    }

    @Override
    public String getMessage() {
      return String.valueOf(super.getMessage());
    }
  }
}
