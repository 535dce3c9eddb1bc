package dev.sessionkeeper.registry.usage;

import dev.sessionkeeper.Page;
import dev.sessionkeeper.jobs.JobContext;
import dev.sessionkeeper.store.Actor;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.webhook.TargetGuard;
import dev.sessionkeeper.webhook.WebhookSender;
import dev.sessionkeeper.webhook.WebhookSignature;
import java.math.BigDecimal;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Usage of registered sessions: each microsecond of each session is in exactly one ledger row, and
 * each row in exactly one batch. A receiver that recognises keys applies each batch once.
 *
 * <p>Threads: any. docs/explanation/usage.md has the rules.
 */
public final class Usage {
  private static final Logger log = LoggerFactory.getLogger(Usage.class);

  private static final Duration RECONCILIATION = Duration.ofMinutes(5);

  private final Database database;
  private volatile UsageOptions options;
  private final HoldMetering hold;
  private final UsageBatches batches;
  private final UsageLedger ledger;

  private Usage(Database database, UsageOptions options) {
    this.database = database;
    this.options = options;
    var clock = new WatchDatabaseClock(options.time(), options.tolerance());
    this.hold = new HoldMetering(database, clock, options.listener());
    this.batches = new UsageBatches(database);
    this.ledger = new UsageLedger(database);
  }

  public static Usage create(DataSource source, UsageOptions options) {
    return new Usage(Database.of(source), options);
  }

  /** A stop of metering after a jump of the database's clock, with its cause. */
  public record MeteringHold(Instant since, Duration jump, String reason) {}

  public UsageOptions options() {
    return options;
  }

  /** Changes the receiver of batches and their signature, from the next delivery on. */
  public void deliverTo(
      Optional<URI> endpoint, Optional<WebhookSignature> signature, TargetGuard guard) {
    options = options.delivery(endpoint, signature, guard);
  }

  /** Meters up to the slot of the run; each chunk is fenced by the run's lease. */
  public int meter(JobContext context) {
    return meter(
        context.slot().at(),
        context::inFencedTransaction,
        rows -> context.report(rows + " ledger rows written"));
  }

  /**
   * Meters up to the end of a slot without a lease. The result is exact with any number of
   * concurrent callers.
   *
   * @param slotEnd not in the future of the database
   * @return how many ledger rows were written; 0 while metering is held
   */
  public int meter(Instant slotEnd) {
    return meter(slotEnd, database::inTransaction, rows -> {});
  }

  private int meter(Instant slotEnd, MeterUsage.Transactions transactions, IntConsumer progress) {
    long started = options.time().nanoTime();
    hold.look();
    try {
      int rows = new MeterUsage(transactions, hold::check, progress).until(slotEnd);
      options.listener().accept(new UsageEvent.Metered(rows, options.time().since(started)));
      return rows;
    } catch (HoldMetering.Holding e) {
      log.warn("Nothing was metered until {}: {}", slotEnd, e.getMessage());
      return 0;
    }
  }

  /** Reads the database's clock, so that a jump is noticed when it happens. */
  public void watchClock() {
    hold.look();
  }

  public Optional<MeteringHold> hold() {
    return hold.open().map(open -> new MeteringHold(open.since(), open.jump(), open.reason()));
  }

  /**
   * Ends the hold of metering: the time of the jump is billed if the clock still says that it
   * passed.
   */
  public boolean release(Actor actor) {
    return hold.release(actor);
  }

  /**
   * Delivers until no batch is due.
   *
   * @return how many batches were acknowledged; 0 without an endpoint
   */
  public int deliver(BooleanSupplier goOn) throws InterruptedException {
    var now = options;
    if (now.endpoint().isEmpty()) {
      return 0;
    }
    var leases = new DeliveryLeases(database, now);
    var post = new PostBatch(WebhookSender.create(now.time()), now.endpoint().get(), now);
    return new DeliverUsage(leases, post, now).whileDue(goOn);
  }

  /**
   * Deletes usage that the receiver acknowledged longer ago than this, under the run's lease. Only
   * its sums are kept, for the proof; deleted usage can be neither corrected nor sent again.
   *
   * @return how many batches
   * @throws IllegalStateException if a batch and its rows do not add up
   */
  public int forget(JobContext context, Duration age) {
    return forget(
        age, context::inFencedTransaction, () -> context.isHeld() && !context.isStopping());
  }

  int forget(Duration age, MeterUsage.Transactions transactions, BooleanSupplier goOn) {
    var forget = new PurgeUsage(age);
    int all = 0;
    int some = PurgeUsage.AT_ONCE;
    while (some == PurgeUsage.AT_ONCE && goOn.getAsBoolean()) {
      some = transactions.run(forget::step);
      all += some;
    }
    return all;
  }

  /** Returns the rows of the ledger that overlap the interval. */
  public Page<LedgerRow> ledger(
      Optional<UUID> tenant, Optional<Instant> from, Optional<Instant> to, Page.Request page) {
    return ledger.list(tenant, from, to, page);
  }

  /** Returns the outbox, newest first. */
  public Page<UsageBatch> batches(
      Optional<UUID> tenant, Optional<UsageBatch.State> state, Page.Request page) {
    return batches.list(tenant, state, page);
  }

  public Optional<UsageBatch> batch(UUID batchId) {
    return batches.find(batchId);
  }

  /**
   * Sends an acknowledged or refused batch again. Returns false if it is still being delivered
   * anyway.
   */
  public boolean replay(UsageBatch batch, Actor actor) {
    return batches.replay(batch, actor);
  }

  /** Returns the sums of each tenant, or of one; all differences should be 0. */
  public List<UsageProof> proof(Optional<UUID> tenant) {
    return new ProveUsage(database, options).read(tenant);
  }

  /** Computes {@link #proof} with more time for a long history: for a job, not for a request. */
  public List<UsageProof> reconcile() {
    return new ProveUsage(database.patient(RECONCILIATION), options).read(Optional.empty());
  }

  /** Returns how long ago the oldest moment passed that is not metered; zero if there is none. */
  public Duration oldestUnmetered() {
    return new ProveUsage(database, options).oldestUnmetered();
  }

  /**
   * Corrects a ledger record to another factor; 0 waives it.
   *
   * @return the reversal and the new record, or the reason for refusing the correction
   */
  public Correction correct(UUID session, int seq, BigDecimal factor, Actor actor, String reason) {
    return new CorrectUsage(database)
        .apply(new CorrectUsage.Order(session, seq, factor, actor, reason));
  }
}
