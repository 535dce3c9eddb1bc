package dev.sessionkeeper.coalescing;

import dev.sessionkeeper.coalescing.LastValueStore.Entry;
import dev.sessionkeeper.coalescing.Stripe.Offered;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.ToLongFunction;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the newest value of each key, many keys at a time, and reports when it is durable.
 *
 * <p>For values of which only the last counts: a cursor, a last activity, a progress. A newer
 * version replaces an older one that waits, so the number of keys bounds the memory, and no key's
 * newest accepted value is dropped. Safe for use by many threads. A stage may complete on any
 * thread; dependent actions may block.
 */
public final class CoalescingWriter<K, V> implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(CoalescingWriter.class);
  private static final Duration DEFAULT_DEADLINE = Duration.ofSeconds(5);

  private final WriterOptions options;
  private final WriterDependencies<K, V> around;
  private final ToLongFunction<Entry<K, V>> sizeOf;
  private final Capacity room;
  private final List<FlushStripe<K, V>> workers;
  private final AtomicBoolean pressure = new AtomicBoolean();
  private final CompletableFuture<CloseReport<K>> closed = new CompletableFuture<>();
  private final AtomicBoolean closing = new AtomicBoolean();

  private CoalescingWriter(Builder<K, V> builder) {
    options = builder.options;
    sizeOf = builder.sizeOf;
    room = new Capacity(options.maxItems(), options.maxBytes());
    around =
        new WriterDependencies<>(
            builder.store,
            options.retry(),
            builder.time,
            builder.executor,
            builder.listener,
            new Counters(),
            new LastFailure());
    workers = new ArrayList<>(options.stripes());
    for (int i = 0; i < options.stripes(); i++) {
      var stripe = new Stripe<K, V>(room, options, builder.random);
      workers.add(new FlushStripe<>(stripe, around, this::afterTurn));
    }
  }

  public static <K, V> Builder<K, V> builder(LastValueStore<K, V> store) {
    return new Builder<>(store);
  }

  /** Returns a writer with the defaults of {@link WriterOptions}. */
  public static <K, V> CoalescingWriter<K, V> create(LastValueStore<K, V> store) {
    return builder(store).build();
  }

  /**
   * Submits a value. The stage completes when this version or a newer one of the key is durable, or
   * with another outcome; never exceptionally.
   *
   * @param version grows with every value of the key; of two values the higher version wins
   */
  public CompletionStage<Outcome> submit(K key, long version, V value) {
    var entry = new Entry<>(key, version, value);
    long bytes = sizeOf.applyAsLong(entry);
    around.counters().submitted.increment();
    if (!room.canEverHold(bytes)) {
      return rejected(Outcome.Why.TOO_LARGE);
    }
    var worker = workers.get(Math.floorMod(spread(key.hashCode()), workers.size()));
    var offered = worker.stripe().offer(entry, bytes, around.time().nanoTime());
    if (offered instanceof Offered.NoRoom) {
      return whenFull(worker, entry, bytes);
    }
    return answer(worker, offered);
  }

  private CompletionStage<Outcome> whenFull(
      FlushStripe<K, V> worker, Entry<K, V> entry, long bytes) {
    return switch (options.whenFull()) {
      case WhenFull.Reject reject -> rejected(Outcome.Why.FULL);
      case WhenFull.CallerRuns callerRuns ->
          closing.get()
              ? rejected(Outcome.Why.CLOSED)
              : CompletableFuture.completedStage(worker.writeNow(entry));
      case WhenFull.Block block -> {
        var offered = offerUntil(block.timeout(), worker.stripe(), entry, bytes);
        if (offered instanceof Offered.NoRoom) {
          around.counters().backpressureTimeouts.increment();
        }
        yield answer(worker, offered);
      }
    };
  }

  private Offered offerUntil(Duration timeout, Stripe<K, V> stripe, Entry<K, V> entry, long bytes) {
    try (var deadline = room.new Deadline(around.time(), timeout)) {
      Offered offered;
      boolean mayTryAgain;
      do {
        mayTryAgain = room.await(bytes, deadline);
        offered = stripe.offer(entry, bytes, around.time().nanoTime());
      } while (offered instanceof Offered.NoRoom && mayTryAgain);
      return offered;
    }
  }

  private CompletionStage<Outcome> answer(FlushStripe<K, V> worker, Offered offered) {
    return switch (offered) {
      case Offered.Taken taken -> {
        if (taken.coalesced()) {
          around.counters().coalesced.increment();
        } else {
          signalPressure();
          worker.wake();
        }
        yield taken.stage();
      }
      case Offered.NoRoom noRoom -> rejected(Outcome.Why.FULL);
      case Offered.Closed gone -> rejected(Outcome.Why.CLOSED);
    };
  }

  private CompletionStage<Outcome> rejected(Outcome.Why why) {
    around.counters().rejected.increment();
    return CompletableFuture.completedStage(new Outcome.Rejected(why));
  }

  private static int spread(int hash) {
    return hash ^ (hash >>> 16);
  }

  /** Returns the newest value that was accepted and is not yet known to be stored. */
  public Optional<Entry<K, V>> pending(K key) {
    return workers.get(Math.floorMod(spread(key.hashCode()), workers.size())).stripe().newest(key);
  }

  /** Returns whether the writer is at least 80 % full: callers should slow down. */
  public boolean isUnderPressure() {
    return room.filled() >= WriterOptions.SOFT_LIMIT;
  }

  private void signalPressure() {
    boolean high = isUnderPressure();
    if (pressure.compareAndSet(!high, high)) {
      around.listener().pressureChanged(high);
    }
  }

  private void afterTurn() {
    signalPressure();
    if (closing.get() && workers.stream().allMatch(worker -> worker.stripe().isEmpty())) {
      closed.complete(new CloseReport<>(List.of()));
    }
  }

  public WriterOptions options() {
    return options;
  }

  public WriterHealth health() {
    if (closing.get()) {
      return new WriterHealth(WriterHealth.Status.DOWN, "The writer is closed");
    }
    var health = around.vitals().health();
    if (health.status() == WriterHealth.Status.UP && isUnderPressure()) {
      return new WriterHealth(
          WriterHealth.Status.DEGRADED, "The writer is at least 80 % full; slow down");
    }
    return health;
  }

  public WriterMetrics metrics() {
    long now = around.time().nanoTime();
    var depths = workers.stream().map(worker -> worker.stripe().depth(now)).toList();
    var counters = around.counters();
    return new WriterMetrics(
        depths.stream().mapToLong(depth -> depth.fresh() + depth.inFlight()).sum(),
        depths.stream().mapToLong(Stripe.Depth::retrying).sum(),
        room.bytes(),
        Duration.ofNanos(depths.stream().mapToLong(Stripe.Depth::oldestNanos).max().orElse(0)),
        counters.submitted.sum(),
        counters.coalesced.sum(),
        counters.written.sum(),
        counters.batches.sum(),
        counters.retriesProcessed.sum(),
        counters.retrySuccess.sum(),
        counters.retryExhausted.sum(),
        counters.dead.sum(),
        counters.notFound.sum(),
        counters.backpressureTimeouts.sum(),
        counters.rejected.sum(),
        counters.workerRestarts.sum());
  }

  /**
   * Refuses new values, writes waiting ones, repeats failed writes, and gives up at the deadline.
   * Values that are not saved by then are in the report, and their stages complete as {@link
   * Outcome.Undrained}. The deadline also holds while a write hangs. Closing again changes nothing
   * and returns the same report.
   */
  public CompletionStage<CloseReport<K>> closeAsync(Duration deadline) {
    if (closing.compareAndSet(false, true)) {
      var timer = around.time().schedule(deadline, this::giveUp);
      var unused = closed.thenRun(timer::cancel);
      workers.forEach(worker -> worker.stripe().drain(around.time().nanoTime()));
      // After the stripes, so that callers that wait for capacity learn that there will be none.
      room.close();
      workers.forEach(FlushStripe::wake);
      afterTurn();
    }
    return closed.minimalCompletionStage();
  }

  /** Closes as {@link #closeAsync} does, and waits for the report. */
  public CloseReport<K> close(Duration deadline) {
    closeAsync(deadline);
    return closed.join();
  }

  /** Closes with a deadline of 5 seconds. */
  @Override
  public void close() {
    close(DEFAULT_DEADLINE);
  }

  private void giveUp() {
    var unsaved = new ArrayList<CloseReport.Unsaved<K>>();
    var waiters = new ArrayList<Runnable>();
    for (var worker : workers) {
      for (var slot : worker.stripe().abandon()) {
        unsaved.add(new CloseReport.Unsaved<>(slot.key, slot.version, slot.attempts, slot.cause));
        var outcome = new Outcome.Undrained(slot.cause);
        slot.waiters().forEach(waiter -> waiters.add(() -> waiter.complete(outcome)));
      }
    }
    if (closed.complete(new CloseReport<>(unsaved)) && !unsaved.isEmpty()) {
      log.error("Closed with {} values unsaved; the report names them", unsaved.size());
    }
    // Not on the timer's thread, because dependent actions may block.
    Runnable all = () -> waiters.forEach(Runnable::run);
    try {
      around.executor().execute(all);
    } catch (RejectedExecutionException e) {
      all.run();
    }
  }

  /** Sets options of a writer; each has a default. */
  public static final class Builder<K, V> {
    private final LastValueStore<K, V> store;
    private WriterOptions options = WriterOptions.ofDefaults();
    private TimeSource time = TimeSource.system();
    private RandomGenerator random = RandomGenerator.getDefault();
    private Executor executor = Executors.newVirtualThreadPerTaskExecutor();
    private WriterListener listener = WriterListener.none();
    private ToLongFunction<Entry<K, V>> sizeOf = SizeOf::entry;

    private Builder(LastValueStore<K, V> store) {
      this.store = store;
    }

    public Builder<K, V> options(WriterOptions chosen) {
      options = chosen;
      return this;
    }

    public Builder<K, V> time(TimeSource source) {
      time = source;
      return this;
    }

    /** Sets the source of jitter for retries. */
    public Builder<K, V> random(RandomGenerator source) {
      random = source;
      return this;
    }

    /**
     * Sets the executor of writes and dependent actions. The default is one virtual thread for
     * each.
     */
    public Builder<K, V> executor(Executor chosen) {
      executor = chosen;
      return this;
    }

    public Builder<K, V> listener(WriterListener chosen) {
      listener = chosen;
      return this;
    }

    /** Sets how many bytes an entry counts for. The default estimates texts and byte arrays. */
    public Builder<K, V> sizeOf(ToLongFunction<Entry<K, V>> chosen) {
      sizeOf = chosen;
      return this;
    }

    public CoalescingWriter<K, V> build() {
      return new CoalescingWriter<>(this);
    }
  }
}
