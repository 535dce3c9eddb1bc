package dev.sessionkeeper.sqs;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Encodes a map of texts as one attribute, because a message has at most ten: {@code a=1&b=2},
 * percent-encoded.
 */
final class FormText {
  private FormText() {}

  static String encode(Map<String, String> values) {
    return values.entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .map(entry -> quote(entry.getKey()) + "=" + quote(entry.getValue()))
        .collect(Collectors.joining("&"));
  }

  static Map<String, String> decode(String text) {
    var values = new HashMap<String, String>();
    for (var part : text.split("&", -1)) {
      int at = part.indexOf('=');
      if (at >= 0) {
        values.put(unquote(part.substring(0, at)), unquote(part.substring(at + 1)));
      }
    }
    return values;
  }

  private static String quote(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  private static String unquote(String text) {
    return URLDecoder.decode(text, StandardCharsets.UTF_8);
  }
}
