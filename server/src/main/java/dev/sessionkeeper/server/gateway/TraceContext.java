package dev.sessionkeeper.server.gateway;

import io.opentelemetry.api.trace.Span;
import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Pattern;

/**
 * A place in a trace, as W3C Trace Context writes it.
 *
 * @param traceId 32 hexadecimal digits: the same from intake to handler
 * @param spanId 16 hexadecimal digits: another for every step
 */
record TraceContext(String traceId, String spanId, boolean sampled) {
  /** The header, and the property of a message. */
  static final String NAME = "traceparent";

  private static final Pattern FORM =
      Pattern.compile("(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?");

  /** The next step of the caller's trace; a new trace where the caller has none. */
  static TraceContext continuing(String header) {
    return parse(header)
        .map(TraceContext::next)
        .orElseGet(() -> new TraceContext(hex(16), hex(8), true));
  }

  /** The request that is served now, where it is traced; else as {@link #continuing}. */
  static TraceContext ofRequest(String header) {
    var span = Span.current().getSpanContext();
    // Where nothing is traced, the current span is the caller's own.
    return span.isValid() && !span.isRemote()
        ? new TraceContext(span.getTraceId(), span.getSpanId(), span.isSampled())
        : continuing(header);
  }

  static Optional<TraceContext> parse(String header) {
    var parts = FORM.matcher(header);
    if (!parts.matches() || isZero(parts.group(1)) || isZero(parts.group(2))) {
      return Optional.empty();
    }
    boolean sampled = (Integer.parseInt(parts.group(3), 16) & 1) == 1;
    return Optional.of(new TraceContext(parts.group(1), parts.group(2), sampled));
  }

  TraceContext next() {
    return new TraceContext(traceId, hex(8), sampled);
  }

  @Override
  public String toString() {
    return "00-" + traceId + "-" + spanId + (sampled ? "-01" : "-00");
  }

  private static boolean isZero(String digits) {
    return digits.chars().allMatch(digit -> digit == '0');
  }

  private static String hex(int bytes) {
    var random = new byte[bytes];
    ThreadLocalRandom.current().nextBytes(random);
    random[0] |= 1; // All zeros are not allowed.
    return HexFormat.of().formatHex(random);
  }
}
