package dev.sessionkeeper.server.security;

import dev.sessionkeeper.server.http.ProblemType;
import io.github.bucket4j.Bucket;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/** Limits the request rate of each credential. Used on the event loop. */
final class LimitRate {
  private static final int MOST_REMEMBERED = 10_000;

  private final SecurityConfig.RateLimit limit;
  private final Map<String, Bucket> buckets =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Bucket> eldest) {
          return size() > MOST_REMEMBERED;
        }
      };

  LimitRate(SecurityConfig.RateLimit limit) {
    this.limit = limit;
  }

  /** Counts one request of the credential, or refuses it and says when the next one is allowed. */
  synchronized void take(String credential) {
    var probe =
        buckets.computeIfAbsent(credential, name -> newBucket()).tryConsumeAndReturnRemaining(1);
    if (!probe.isConsumed()) {
      throw ProblemType.RATE_LIMITED
          .with("This credential may send " + limit.requests() + " requests per " + limit.per())
          .retryAfter(Duration.ofNanos(probe.getNanosToWaitForRefill()))
          .toException();
    }
  }

  private Bucket newBucket() {
    return Bucket.builder()
        .addLimit(
            bandwidth ->
                bandwidth.capacity(limit.requests()).refillGreedy(limit.requests(), limit.per()))
        .build();
  }
}
