package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.server.http.Problem;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import java.time.Duration;
import java.util.Optional;

/** How a queue is to be: what is left out stays as it is, and is the default for a new queue. */
record QueueRequest(
    Optional<QueueMode> mode,
    Optional<Integer> maxDeliveryCount,
    Optional<Duration> lockDuration,
    Optional<Duration> messageTtl,
    Optional<Duration> duplicateWindow,
    Optional<PoisonPolicy> poisonPolicy) {

  static QueueRequest read(Fields in) {
    var second = Duration.ofSeconds(1);
    var mode = in.optional("mode", Decode.oneOf(QueueMode.class));
    var attempts = in.optional("maxDeliveryCount", Decode.integer(1, 1000));
    var lock = in.optional("lockDuration", Decode.duration(second, Duration.ofHours(12)));
    var ttl = in.optional("messageTtl", Decode.duration(second, Duration.ofDays(366)));
    var window = in.optional("duplicateWindow", Decode.duration(Duration.ZERO, Duration.ofDays(7)));
    var poison = in.optional("poisonPolicy", Decode.oneOf(PoisonPolicy.class));
    in.check();
    return new QueueRequest(
        mode.get(), attempts.get(), lock.get(), ttl.get(), window.get(), poison.get());
  }

  /**
   * The settings that are wanted.
   *
   * @param existing those of the queue, if it exists
   */
  QueueSettings settings(Optional<QueueSettings> existing) {
    var wanted = mode.or(() -> existing.map(QueueSettings::mode)).orElseThrow(this::modeIsMissing);
    var base = existing.orElseGet(() -> defaults(wanted));
    return new QueueSettings(
        wanted,
        maxDeliveryCount.orElse(base.maxDeliveryCount()),
        lockDuration.orElse(base.lockDuration()),
        messageTtl.orElse(base.messageTtl()),
        duplicateWindow.orElse(base.duplicateWindow()),
        poisonPolicy.orElse(base.poisonPolicy()));
  }

  private static QueueSettings defaults(QueueMode mode) {
    return mode == QueueMode.ORDERED ? QueueSettings.ordered() : QueueSettings.unordered();
  }

  private RuntimeException modeIsMissing() {
    return Problem.invalid("mode", "is required for a new queue: ORDERED or UNORDERED")
        .toException();
  }
}
