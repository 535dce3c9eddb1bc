package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.server.http.Request;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The headers that say where a delivery comes from. They are stored with the event, travel as
 * properties of its messages, and become headers again when a message is pushed.
 */
enum HookHeaders {
  USER_AGENT("User-Agent", "github_user_agent"),
  HOOK_ID("X-GitHub-Hook-ID", "github_hook_id"),
  TARGET_TYPE("X-GitHub-Hook-Installation-Target-Type", "github_hook_target_type"),
  TARGET_ID("X-GitHub-Hook-Installation-Target-ID", "github_hook_target_id"),
  ENTERPRISE_HOST("X-GitHub-Enterprise-Host", "github_enterprise_host"),
  /** Only if the body of the message is the one that GitHub signed. */
  SIGNATURE("X-Hub-Signature-256", "github_signature");

  private static final int MAX_LENGTH = 500;

  private final String header;
  private final String property;

  HookHeaders(String header, String property) {
    this.header = header;
    this.property = property;
  }

  String header() {
    return header;
  }

  /** Returns these headers of a request, by name. */
  static Map<String, String> of(Request request) {
    var kept = new LinkedHashMap<String, String>();
    for (var one : values()) {
      var value = request.header(one.header);
      if (!value.isBlank()) {
        kept.put(one.header, value.substring(0, Math.min(value.length(), MAX_LENGTH)));
      }
    }
    return kept;
  }

  /**
   * Returns the message with these headers as properties.
   *
   * @param signed the body that GitHub signed
   */
  static Message asProperties(Message message, Map<String, String> headers, byte[] signed) {
    var properties = new LinkedHashMap<>(message.properties());
    for (var one : values()) {
      var value = headers.get(one.header);
      boolean holds = one != SIGNATURE || Arrays.equals(message.payload().unsafeBytes(), signed);
      if (value != null && holds) {
        properties.put(one.property, value);
      }
    }
    return message.withProperties(properties);
  }

  /** Returns the value that a message carries. */
  Optional<String> in(Message message) {
    return Optional.ofNullable(message.properties().get(property));
  }
}
