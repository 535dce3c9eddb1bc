package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import java.time.Duration;
import java.util.Optional;

/** How a queue is to be: what is left out has the default. */
record QueueRequest(
    QueueMode mode,
    Optional<Integer> maxDeliveryCount,
    Optional<Duration> lockDuration,
    Optional<Duration> messageTtl,
    Optional<Duration> duplicateWindow,
    Optional<PoisonPolicy> poisonPolicy) {

  static QueueRequest read(Fields in) {
    var second = Duration.ofSeconds(1);
    var mode = in.required("mode", Decode.oneOf(QueueMode.class));
    var attempts = in.optional("maxDeliveryCount", Decode.integer(1, 1000));
    var lock = in.optional("lockDuration", Decode.duration(second, Duration.ofHours(12)));
    var ttl = in.optional("messageTtl", Decode.duration(second, Duration.ofDays(366)));
    var window = in.optional("duplicateWindow", Decode.duration(Duration.ZERO, Duration.ofDays(7)));
    var poison = in.optional("poisonPolicy", Decode.oneOf(PoisonPolicy.class));
    in.check();
    return new QueueRequest(
        mode.get(), attempts.get(), lock.get(), ttl.get(), window.get(), poison.get());
  }

  QueueSettings settings() {
    var defaults = mode == QueueMode.ORDERED ? QueueSettings.ordered() : QueueSettings.unordered();
    return new QueueSettings(
        mode,
        maxDeliveryCount.orElse(defaults.maxDeliveryCount()),
        lockDuration.orElse(defaults.lockDuration()),
        messageTtl.orElse(defaults.messageTtl()),
        duplicateWindow.orElse(defaults.duplicateWindow()),
        poisonPolicy.orElse(defaults.poisonPolicy()));
  }
}
