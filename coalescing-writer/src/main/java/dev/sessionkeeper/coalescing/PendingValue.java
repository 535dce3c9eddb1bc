package dev.sessionkeeper.coalescing;

import dev.sessionkeeper.coalescing.LastValueStore.Entry;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The newest value of one key, with the submits that wait for it.
 *
 * <p>Guarded by the lock of its stripe. All submits of a slot share one stage, so that a million
 * submits to one key while the store is down cost no more memory than one.
 */
final class PendingValue<K, V> {
  final K key;
  long version;
  V value;
  long bytes;

  /** Failed attempts so far. */
  int attempts;

  /** Submits that ended up in this slot. */
  long submits = 1;

  /** When the first of them came. */
  final long since;

  /** When it may be tried again, while it waits for a retry; the order breaks ties. */
  long due;

  long order;

  /** Why the last attempt failed. */
  String cause = "not tried";

  /** The value will not be tried again; it only waits to be set aside. */
  boolean toBury;

  private final CompletableFuture<Outcome> own;
  private final CompletionStage<Outcome> stage;

  /**
   * Waiters of older values that failed; at most those of one slot, as every heir shares its own.
   */
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
    // Minimal, so that no caller can complete or cancel it for the others.
    this.stage = stage == null ? own.minimalCompletionStage() : stage;
  }

  /**
   * The slot for a newer value that comes while this one is in flight.
   *
   * <p>After a failure the waiters of this slot wait for the heir as well: otherwise each round of
   * a long outage would leave one more waiter per key.
   */
  PendingValue<K, V> successor(Entry<K, V> entry, long size, long now) {
    if (attempts == 0) {
      return new PendingValue<>(entry, size, now);
    }
    heir = new PendingValue<>(entry, size, now, own, stage);
    return heir;
  }

  /** Earlier due first; of equal ones the one that failed first. */
  static int compareDue(PendingValue<?, ?> a, PendingValue<?, ?> b) {
    // By difference: the clock's zero has no meaning, so its values may wrap.
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
      // The verdict was on the older value; this one has all its attempts.
      toBury = false;
      attempts = 0;
    }
  }

  /** Takes over the waiters and the history of an older value of the key that failed in flight. */
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
