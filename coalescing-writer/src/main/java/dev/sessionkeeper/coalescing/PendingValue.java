package dev.sessionkeeper.coalescing;

import dev.sessionkeeper.coalescing.LastValueStore.Entry;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The newest value of one key, with the submits that wait for its outcome.
 *
 * <p>Guarded by the lock of its stripe. All submits of a pending value share one stage, so a
 * million submits to one key while the store is down need no more memory than one.
 */
final class PendingValue<K, V> {
  final K key;
  long version;
  V value;
  long bytes;

  /** Failed attempts so far. */
  int attempts;

  /** The submits that this value stands for. */
  long submits = 1;

  /** When the first of them arrived. */
  final long since;

  /** When the value may be retried; {@code order} breaks ties. */
  long due;

  long order;

  /** Why the last attempt failed. */
  String cause = "not tried";

  /** Whether the value will not be retried, and waits only to be set aside. */
  boolean toBury;

  private final CompletableFuture<Outcome> own;
  private final CompletionStage<Outcome> stage;

  /** Stages of older values that failed; at most one, because every successor shares its stage. */
  private final List<CompletableFuture<Outcome>> inherited = new ArrayList<>(1);

  private @Nullable PendingValue<K, V> heir;

  PendingValue(Entry<K, V> entry, long bytes, long now) {
    this(entry, bytes, now, new CompletableFuture<>(), null);
  }

  private PendingValue(
      Entry<K, V> entry,
      long bytes,
      long now,
      CompletableFuture<Outcome> own,
      @Nullable CompletionStage<Outcome> stage) {
    this.key = entry.key();
    this.version = entry.version();
    this.value = entry.value();
    this.bytes = bytes;
    this.since = now;
    this.own = own;
    // A minimal stage, so that no caller can complete or cancel it for the others.
    this.stage = stage == null ? own.minimalCompletionStage() : stage;
  }

  /**
   * Returns the pending value for a newer value that arrives while this one is being written.
   *
   * <p>After a failure the waiters of this value wait for the successor as well; otherwise each
   * attempt of a long outage would add a waiter per key.
   */
  PendingValue<K, V> successor(Entry<K, V> entry, long size, long now) {
    if (attempts == 0) {
      return new PendingValue<>(entry, size, now);
    }
    heir = new PendingValue<>(entry, size, now, own, stage);
    return heir;
  }

  /** Orders by due time; of equal ones, the one that failed first. */
  static int compareDue(PendingValue<?, ?> a, PendingValue<?, ?> b) {
    // Compares by difference, because monotonic time may wrap around.
    int byDue = Long.signum(a.due - b.due);
    return byDue != 0 ? byDue : Long.compare(a.order, b.order);
  }

  CompletionStage<Outcome> stage() {
    return stage;
  }

  Entry<K, V> entry() {
    return new Entry<>(key, version, value);
  }

  void replaceBy(Entry<K, V> newer, long size) {
    version = newer.version();
    value = newer.value();
    bytes = size;
    if (toBury) {
      // The older value was refused; this one has all of its attempts.
      toBury = false;
      attempts = 0;
    }
  }

  /** Takes over the waiters and the history of an older value of the key whose write failed. */
  void inherit(PendingValue<K, V> failed) {
    attempts = failed.toBury ? 0 : failed.attempts;
    cause = failed.cause;
    submits += failed.submits;
    inherited.addAll(failed.inherited);
    if (failed.heir != this) {
      inherited.add(failed.own);
    }
  }

  /**
   * Returns the submits that learn the outcome now: all except those that wait for the newer value.
   */
  List<CompletableFuture<Outcome>> waiters() {
    var all = new ArrayList<>(inherited);
    if (heir == null) {
      all.add(own);
    }
    return all;
  }
}
