package dev.sessionkeeper.processor;

import dev.sessionkeeper.Owner;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.time.TimeSource;
import java.util.Optional;
import java.util.concurrent.ThreadFactory;

/** The immutable dependencies that all workers of one processor share. */
record Setup(
    QueueProvider provider,
    QueueName queue,
    QueueSettings settings,
    ProcessorOptions options,
    MessageHandler handler,
    Optional<CallBatchHandler> batches,
    SessionHooks hooks,
    Owner owner,
    TimeSource time,
    Jitter jitter,
    ThreadFactory threads,
    Optional<ThreadFactory> background,
    Report report) {

  long lockNanos() {
    return Pause.nanos(settings.lockDuration());
  }

  long longestHold() {
    return Pause.nanos(options.sessionMaxDuration());
  }

  /** Starts a background thread, which no handler can starve. */
  void startInBackground(String name, Runnable task) {
    background
        .orElseGet(() -> Thread.ofPlatform().daemon().name(name).factory())
        .newThread(task)
        .start();
  }
}
