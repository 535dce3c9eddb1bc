package dev.sessionkeeper.coalescing;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.coalescing.LastValueStore.Result;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes one batch of a stripe and ends each of its values with an outcome, or for a retry.
 *
 * <p>Used by one thread. After a failure that can be repeated, all values wait for their retry.
 * After any other failure one entry is invalid: the batch is split in halves until that entry is
 * found and set aside, and the others are written.
 */
final class WriteBatch<K, V> {
  private static final Logger log = LoggerFactory.getLogger(WriteBatch.class);

  private final Stripe<K, V> stripe;
  private final WriterDependencies<K, V> around;
  private final List<Runnable> news = new ArrayList<>();

  WriteBatch(Stripe<K, V> stripe, WriterDependencies<K, V> around) {
    this.stripe = stripe;
    this.around = around;
  }

  /** Returns the outcomes for the submits that wait. */
  List<Runnable> write(List<PendingValue<K, V>> batch) {
    var live = new ArrayList<PendingValue<K, V>>(batch.size());
    for (var slot : batch) {
      if (slot.attempts > 0) {
        around.counters().retriesProcessed.increment();
      }
      if (slot.toBury) {
        setAside(slot);
      } else {
        live.add(slot);
      }
    }
    attempt(live);
    return news;
  }

  private void attempt(List<PendingValue<K, V>> slots) {
    if (slots.isEmpty()) {
      return;
    }
    long began = around.time().nanoTime();
    try {
      var results = around.store().write(slots.stream().map(PendingValue::entry).toList());
      if (results.size() != slots.size()) {
        throw new AssertionError(
            "The store answered " + results.size() + " results to " + slots.size() + " entries");
      }
      succeeded(slots, results, began);
    } catch (KeeperException.Unavailable
        | KeeperException.OutcomeUnknown
        | KeeperException.Overloaded e) {
      failed(slots, e, began);
    } catch (RuntimeException e) {
      blame(slots, e);
    }
  }

  private void succeeded(List<PendingValue<K, V>> slots, List<Result> results, long began) {
    var took = around.time().since(began);
    stripe.wrote(took, true);
    around.vitals().writeSucceeded();
    around.counters().batches.increment();
    long submits = 0;
    long oldest = began;
    for (int i = 0; i < slots.size(); i++) {
      var slot = slots.get(i);
      submits += slot.submits;
      oldest = Math.min(oldest, slot.since);
      settle(slot, outcomeOf(slot, results.get(i)));
    }
    around
        .listener()
        .flushed(
            new WriterListener.Flush(slots.size(), submits, around.time().since(oldest), took));
  }

  private Outcome outcomeOf(PendingValue<K, V> slot, Result result) {
    var counters = around.counters();
    return switch (result) {
      case WRITTEN -> {
        counters.written.increment();
        if (slot.attempts > 0) {
          counters.retrySuccess.increment();
        }
        yield new Outcome.Durable(slot.version);
      }
      case SUPERSEDED -> new Outcome.Superseded();
      case NOT_FOUND -> {
        counters.notFound.increment();
        yield new Outcome.NotFound();
      }
    };
  }

  private void failed(List<PendingValue<K, V>> slots, KeeperException e, long began) {
    var cause = String.valueOf(e.getMessage());
    stripe.wrote(around.time().since(began), false);
    around.vitals().writeFailed(cause);
    log.debug("{} values wait for their retry: {}", slots.size(), cause);
    for (var slot : slots) {
      if (around.retry().allowsAfter(slot.attempts + 1)) {
        stripe.fail(slot, cause, around.time().nanoTime());
      } else {
        around.counters().retryExhausted.increment();
        condemn(slot, "All " + (slot.attempts + 1) + " attempts failed, the last: " + cause);
      }
    }
  }

  private void blame(List<PendingValue<K, V>> slots, RuntimeException e) {
    if (slots.size() == 1) {
      condemn(slots.getFirst(), e.toString());
      return;
    }
    int half = slots.size() / 2;
    attempt(slots.subList(0, half));
    attempt(slots.subList(half, slots.size()));
  }

  private void condemn(PendingValue<K, V> slot, String cause) {
    slot.toBury = true;
    slot.cause = cause;
    setAside(slot);
  }

  private void setAside(PendingValue<K, V> slot) {
    try {
      around.store().setAside(slot.entry(), slot.cause);
      log.warn("Set aside version {} of {}: {}", slot.version, slot.key, slot.cause);
    } catch (KeeperException.Unavailable | KeeperException.OutcomeUnknown e) {
      stripe.fail(slot, slot.cause, around.time().nanoTime());
      return;
    } catch (RuntimeException e) {
      log.error(
          "Version {} of {} could neither be written ({}) nor set aside; its value is lost",
          slot.version,
          slot.key,
          slot.cause,
          e);
    }
    around.counters().dead.increment();
    settle(slot, new Outcome.Dead(slot.cause));
  }

  private void settle(PendingValue<K, V> slot, Outcome outcome) {
    if (stripe.settle(slot)) {
      for (CompletableFuture<Outcome> waiter : slot.waiters()) {
        news.add(() -> waiter.complete(outcome));
      }
    }
  }
}
