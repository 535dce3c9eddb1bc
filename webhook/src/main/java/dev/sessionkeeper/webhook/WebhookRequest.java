package dev.sessionkeeper.webhook;

import java.net.URI;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * A post to make.
 *
 * @param url http or https, with a host and without user information
 * @param id the same for all retries, so that the receiver recognises a repetition
 * @param headers in addition to those that the sender writes itself
 * @param signature signs the request; unsigned if empty
 * @param timeout for everything: name lookup, connection, request and answer
 */
public record WebhookRequest(
    URI url,
    String id,
    byte[] body,
    String contentType,
    Map<String, String> headers,
    Optional<WebhookSignature> signature,
    Duration timeout,
    TargetGuard guard) {
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}");
  private static final Pattern VALUE = Pattern.compile("[\\x20-\\x7e]{0,4096}");
  private static final Set<String> OWN =
      Set.of(
          "host",
          "connection",
          "content-length",
          "content-type",
          "transfer-encoding",
          "expect",
          WebhookSignature.ID_HEADER,
          WebhookSignature.TIMESTAMP_HEADER,
          WebhookSignature.SIGNATURE_HEADER);

  public WebhookRequest {
    requireUrl(url);
    requireValue(WebhookSignature.ID_HEADER, id);
    requireValue("content-type", contentType);
    headers = Map.copyOf(headers);
    headers.forEach(WebhookRequest::requireHeader);
    if (timeout.isNegative() || timeout.isZero() || timeout.compareTo(Duration.ofHours(1)) > 0) {
      throw new IllegalArgumentException("timeout must be over zero to 1 hour, was " + timeout);
    }
  }

  /** Returns an unsigned post of JSON to a public address with a timeout of 10 seconds. */
  public static WebhookRequest json(URI url, String id, byte[] body) {
    return new WebhookRequest(
        url,
        id,
        body,
        "application/json",
        Map.of(),
        Optional.empty(),
        Duration.ofSeconds(10),
        TargetGuard.publicOnly());
  }

  public WebhookRequest withHeaders(Map<String, String> more) {
    return new WebhookRequest(url, id, body, contentType, more, signature, timeout, guard);
  }

  public WebhookRequest signedWith(WebhookSignature by) {
    return new WebhookRequest(url, id, body, contentType, headers, Optional.of(by), timeout, guard);
  }

  public WebhookRequest within(Duration time) {
    return new WebhookRequest(url, id, body, contentType, headers, signature, time, guard);
  }

  public WebhookRequest guardedBy(TargetGuard other) {
    return new WebhookRequest(url, id, body, contentType, headers, signature, timeout, other);
  }

  /**
   * Refuses an address that can never be posted to, for configurations that are checked before the
   * first request.
   *
   * @throws IllegalArgumentException saying what is wrong
   */
  public static void requireUrl(URI url) {
    boolean web = "http".equalsIgnoreCase(url.getScheme()) || isSecure(url);
    if (!web || url.getHost() == null || url.getUserInfo() != null || url.getPort() > 65535) {
      throw new IllegalArgumentException(
          "A webhook address is http:// or https:// with a host and without a user name, was "
              + url.getScheme()
              + "://"
              + url.getHost());
    }
  }

  static boolean isSecure(URI url) {
    return "https".equalsIgnoreCase(url.getScheme());
  }

  private static void requireHeader(String name, String value) {
    if (!NAME.matcher(name).matches() || OWN.contains(name.toLowerCase(Locale.ROOT))) {
      throw new IllegalArgumentException(
          "A header has a name of letters, digits and hyphens that the sender does not write"
              + " itself, was one of length "
              + name.length()
              + ": "
              + name.replaceAll("[^\\x21-\\x7e]", "?"));
    }
    requireValue(name, value);
  }

  private static void requireValue(String name, String value) {
    if (!VALUE.matcher(value).matches()) {
      throw new IllegalArgumentException(
          "The header "
              + name
              + " has up to 4096 printable ASCII characters, was something else of length "
              + value.length());
    }
  }
}
