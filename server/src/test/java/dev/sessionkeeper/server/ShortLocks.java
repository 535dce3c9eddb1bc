package dev.sessionkeeper.server;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.server.config.ConfigSources;
import dev.sessionkeeper.server.telemetry.Telemetry;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.testkit.DelegatingProvider;
import dev.sessionkeeper.time.TimeSource;
import io.opentelemetry.api.OpenTelemetry;
import java.time.Duration;
import java.util.function.Supplier;

/** The queues of the configuration, with locks so short that a test can wait for their end. */
public final class ShortLocks extends DelegatingProvider {
  private final Duration lock;

  private ShortLocks(QueueProvider queues, Duration lock) {
    super(queues);
    this.lock = lock;
  }

  /** Starts a server with these queues; everything else follows the configuration. */
  public static KeeperServer start(Supplier<ConfigSources> sources, Duration lock) {
    var config = ReadConfig.from(sources.get());
    var time = TimeSource.system();
    return KeeperServer.start(
        config,
        sources,
        time,
        () -> {
          var engine = OpenEngine.open(config, time);
          return new QueuesElsewhere(engine, new ShortLocks(engine.queues(), lock));
        },
        Telemetry.of(OpenTelemetry.noop()));
  }

  @Override
  public boolean declare(QueueName queue, QueueSettings settings) {
    return super.declare(queue, settings.withLockDuration(lock));
  }
}
