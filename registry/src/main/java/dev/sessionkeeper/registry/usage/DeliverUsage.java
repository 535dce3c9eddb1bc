package dev.sessionkeeper.registry.usage;

import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delivers due batches: several tenants concurrently, each in order.
 *
 * <p>A slow or failing receiver of one tenant delays no other. No transaction is open while a
 * delivery waits for a receiver. A batch whose acknowledgement is lost is sent again, with the same
 * bytes and the same key.
 */
final class DeliverUsage {
  private static final Logger log = LoggerFactory.getLogger(DeliverUsage.class);
  private static final Duration LOOK_AGAIN = Duration.ofMillis(200);
  private static final int MAX_ERROR = 500;

  private final DeliveryLeases leases;
  private final PostBatch post;
  private final UsageOptions options;

  DeliverUsage(DeliveryLeases leases, PostBatch post, UsageOptions options) {
    this.leases = leases;
    this.post = post;
    this.options = options;
  }

  /**
   * Delivers until no batch is due or on its way.
   *
   * @return how many batches were acknowledged
   */
  int whileDue(BooleanSupplier goOn) throws InterruptedException {
    var room = new Semaphore(options.parallel());
    var acknowledged = new AtomicInteger();
    var threads = Executors.newVirtualThreadPerTaskExecutor();
    try {
      boolean more = true;
      while (more && goOn.getAsBoolean()) {
        more = startSome(threads, room, acknowledged, goOn);
      }
      return acknowledged.get();
    } catch (InterruptedException e) {
      threads.shutdownNow();
      throw e;
    } finally {
      threads.close();
    }
  }

  /** Returns whether a delivery is still running. */
  private boolean startSome(
      ExecutorService threads, Semaphore room, AtomicInteger acknowledged, BooleanSupplier goOn)
      throws InterruptedException {
    if (!room.tryAcquire(LOOK_AGAIN.toMillis(), TimeUnit.MILLISECONDS)) {
      return true;
    }
    int free = 1 + room.drainPermits();
    var claimed = leases.claim(free);
    room.release(free - claimed.size());
    for (var claim : claimed) {
      threads.execute(
          () -> {
            try {
              acknowledged.addAndGet(deliver(claim, goOn));
            } finally {
              room.release();
            }
          });
    }
    if (claimed.isEmpty()) {
      // Nothing is due: wait for a running delivery, if there is one, and check again.
      if (room.availablePermits() == options.parallel()) {
        return false;
      }
      if (room.tryAcquire(options.parallel(), LOOK_AGAIN.toMillis(), TimeUnit.MILLISECONDS)) {
        room.release(options.parallel());
      }
    }
    return true;
  }

  private int deliver(DeliveryLeases.Claim claim, BooleanSupplier goOn) {
    int count = 0;
    try {
      for (var batches = leases.next(claim); !batches.isEmpty(); batches = leases.next(claim)) {
        for (var batch : batches) {
          if (!goOn.getAsBoolean()) {
            leases.release(claim);
            return count;
          }
          if (!send(claim, batch)) {
            return count;
          }
          count++;
        }
      }
      leases.release(claim);
    } catch (RuntimeException e) {
      log.warn("Delivery for tenant {} stopped; its lease will expire", claim.tenant(), e);
    }
    return count;
  }

  /** Posts a batch. Returns whether the next batch of the tenant may follow. */
  private boolean send(DeliveryLeases.Claim claim, DeliveryLeases.Outgoing batch) {
    long started = options.time().nanoTime();
    return switch (post.post(batch)) {
      case PostBatch.Answer.Taken taken -> {
        boolean ours = fenced(claim, leases.acknowledge(claim, batch));
        if (ours) {
          var took = options.time().since(started);
          tell(new UsageEvent.Delivered(claim.tenant(), batch.records(), took));
        }
        yield ours;
      }
      case PostBatch.Answer.Later later -> {
        later(claim, batch, false, later.reason(), later.atLeast());
        yield false;
      }
      case PostBatch.Answer.Refused refused -> refused(claim, batch, refused.reason());
    };
  }

  private boolean refused(
      DeliveryLeases.Claim claim, DeliveryLeases.Outgoing batch, String reason) {
    if (batch.refusals() + 1 < options.refusals()) {
      later(claim, batch, true, reason, Duration.ZERO);
      return false;
    }
    log.error(
        "Usage batch {} of tenant {} was refused {} times and is set aside: {}",
        batch.id(),
        claim.tenant(),
        options.refusals(),
        reason);
    boolean ours = fenced(claim, leases.setAside(claim, batch, shortened(reason)));
    if (ours) {
      tell(new UsageEvent.Dead(claim.tenant(), batch.id(), shortened(reason)));
    }
    return ours;
  }

  private void later(
      DeliveryLeases.Claim claim,
      DeliveryLeases.Outgoing batch,
      boolean refused,
      String reason,
      Duration atLeast) {
    int failures = claim.failures() + 1;
    var pause = options.retry().delayAfter(failures, RandomGenerator.getDefault());
    var wait = pause.compareTo(atLeast) < 0 ? atLeast : pause;
    log.warn("Usage of tenant {} is sent again in {}: {}", claim.tenant(), wait, shortened(reason));
    if (fenced(claim, leases.fail(claim, batch, refused, shortened(reason), wait))) {
      tell(new UsageEvent.DeliveryFailed(claim.tenant(), failures, shortened(reason), wait));
    }
  }

  private boolean fenced(DeliveryLeases.Claim claim, boolean written) {
    if (!written) {
      log.warn(
          "An answer for tenant {} came under epoch {}, which is over; it was dropped",
          claim.tenant(),
          claim.lease().epoch());
      tell(new UsageEvent.FenceRejected(claim.tenant(), claim.lease().epoch()));
    }
    return written;
  }

  private void tell(UsageEvent event) {
    options.listener().accept(event);
  }

  private static String shortened(String text) {
    return text.length() <= MAX_ERROR ? text : text.substring(0, MAX_ERROR);
  }
}
