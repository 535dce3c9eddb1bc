package dev.sessionkeeper.simulator;

import dev.sessionkeeper.simulator.SharedRun.Ask;
import dev.sessionkeeper.simulator.SharedRun.Bundle;
import dev.sessionkeeper.simulator.SharedRun.Element;
import dev.sessionkeeper.simulator.SharedRun.Lane;
import dev.sessionkeeper.simulator.SharedRun.Place;
import dev.sessionkeeper.simulator.SharedRun.Share;
import dev.sessionkeeper.simulator.Tables.Mode;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** One process of a {@link SharedRun}: a heartbeat, a round thread, and slots for handlers. */
final class SharedReader {
  private static final Duration HEARTBEAT = Duration.ofMillis(400);
  private static final Duration WRITE_DOWN_AFTER = Duration.ofMillis(700);
  private static final int SLOTS = 3;

  private final SharedRun run;
  private final World world;
  private final int number;
  private World.Machine machine = new World.Machine("reader");
  private boolean isRunning;
  private boolean isLeaving;
  private String id = "";
  private long epoch;
  private long localLimit;
  private long thawedAt;

  // In memory.
  private long owns;
  private long readUpTo;
  private final Map<Integer, ArrayDeque<Place>> carried = new TreeMap<>();
  private final Map<Integer, Hold> holds = new HashMap<>();
  private final Set<Integer> blocked = new HashSet<>();
  private final Set<Integer> blockedForGood = new HashSet<>();
  private final Set<Integer> wanted = new LinkedHashSet<>();
  private long lastLook;

  SharedReader(SharedRun run, int number) {
    this.run = run;
    this.world = run.world;
    this.number = number;
  }

  /** A session in hand, carried or as a lane. */
  private static final class Hold {
    final int session;
    final long epoch;
    final long since;
    final long bucketSince;
    final Element element;
    final Place place;
    boolean isLane;
    long laneEpoch;
    boolean isSettling;
    boolean isWriting;

    Hold(int session, long epoch, long since, long bucketSince, Element element, Place place) {
      this.session = session;
      this.epoch = epoch;
      this.since = since;
      this.bucketSince = bucketSince;
      this.element = element;
      this.place = place;
    }
  }

  World.Machine machine() {
    return machine;
  }

  String name() {
    return machine.name;
  }

  boolean isRunning() {
    return isRunning;
  }

  /** Returns whether the process ran all the time since then and knows its lease to be valid. */
  boolean isTrustedSince(long since) {
    return isRunning
        && !machine.isFrozen
        && (thawedAt == 0 || thawedAt < since)
        && world.now() < localLimit;
  }

  void begin(int life) {
    machine = new World.Machine("p" + number + "." + life);
    isRunning = true;
    isLeaving = false;
    owns = 0;
    thawedAt = 0;
    forgetAll();
    world.start(machine, () -> beat(machine.name));
    for (int i = 0; i < SLOTS; i++) {
      world.start(machine, this::serve);
    }
  }

  private void forgetAll() {
    owns = 0;
    carried.clear();
    holds.clear();
    blocked.clear();
    blockedForGood.clear();
    wanted.clear();
  }

  void crash() {
    isRunning = false;
    world.kill(machine);
  }

  void freeze(boolean isFrozen) {
    machine.isFrozen = isFrozen;
    if (!isFrozen) {
      thawedAt = world.now();
    }
  }

  void leave() {
    isLeaving = true;
  }

  void ask(int session) {
    wanted.add(session);
  }

  private <T> T transaction(Tables.Function<T> work) {
    return run.tables.transaction(machine, run::delay, work);
  }

  private void pause(Duration length) {
    world.await(() -> false, length);
  }

  // Heartbeat.

  private void beat(String name) {
    int lives = 0;
    register(name);
    world.start(machine, this::rounds);
    while (true) {
      pause(HEARTBEAT);
      long before = world.now();
      try {
        boolean isAlive =
            transaction(
                t -> {
                  t.statement();
                  t.lock("node " + id, Mode.EXCLUSIVE);
                  var until = run.nodes.get(id);
                  boolean ok = until != null && until > world.now() && run.alive.contains(id);
                  if (ok) {
                    t.write(() -> run.nodes.put(id, world.now() + SharedRun.NODE_LEASE.toNanos()));
                  }
                  return ok;
                });
        if (isAlive) {
          localLimit = before + SharedRun.NODE_LEASE.toNanos();
        } else {
          world.note(name(), "everything is lost; a new id");
          forgetAll();
          register(name + "'" + ++lives);
        }
      } catch (Tables.Broken e) {
        world.note(name(), "no heartbeat: " + e.getMessage());
      }
    }
  }

  private void register(String fresh) {
    while (true) {
      long before = world.now();
      try {
        transaction(
            t -> {
              t.statement();
              t.write(
                  () -> {
                    run.nodes.put(fresh, world.now() + SharedRun.NODE_LEASE.toNanos());
                    run.alive.add(fresh);
                  });
              return true;
            });
        forgetAll();
        id = fresh;
        epoch = 0;
        localLimit = before + SharedRun.NODE_LEASE.toNanos();
        return;
      } catch (Tables.Broken e) {
        pause(Duration.ofMillis(50));
      }
    }
  }

  private boolean isWithinLease() {
    return world.now() < localLimit;
  }

  // Rounds.

  private void rounds() {
    while (true) {
      pause(Duration.ofMillis(20 + world.choices().nextInt(40)));
      try {
        round();
      } catch (Tables.Broken e) {
        world.note(name(), "round: " + e.getMessage());
      }
    }
  }

  private void round() {
    if (!isWithinLease()) {
      return;
    }
    buryDead();
    if (epoch == 0) {
      join();
      return;
    }
    var share = run.shares.get(id);
    if (share == null || share.epoch != epoch || !run.alive.contains(id)) {
      epoch = 0;
      forgetAll();
      return;
    }
    isLeaving &= share.owns != 0;
    long give = isLeaving ? share.owns : share.give & share.owns;
    if (give != 0) {
      handOver(give);
    }
    if (!isLeaving) {
      take();
    }
    readNews();
    answerAsks();
    writeDownOld();
    renewLanes();
    fold();
    lookAtLanes();
    askForWanted();
  }

  private void buryDead() {
    var dead =
        run.shares.values().stream()
            .filter(
                s ->
                    run.nodes.getOrDefault(s.node, 0L) <= world.now()
                        || !run.alive.contains(s.node))
            .map(s -> s.node)
            .toList();
    for (var node : dead) {
      transaction(
          t -> {
            t.statement();
            t.lock("split", Mode.EXCLUSIVE);
            t.lock("share " + node, Mode.EXCLUSIVE);
            t.statement();
            boolean isDead =
                run.nodes.getOrDefault(node, 0L) <= world.now() || !run.alive.contains(node);
            if (isDead && run.shares.containsKey(node)) {
              t.write(
                  () -> {
                    run.shares.remove(node);
                    if (run.has(SharedBug.NOTES_OF_THE_DEAD_FORGOTTEN)) {
                      run.notes.remove(node);
                    } else {
                      foldNotes(node);
                    }
                    world.note(name(), "buries " + node);
                  });
            }
            return true;
          });
    }
  }

  private void foldNotes(String node) {
    var all = run.notes.remove(node);
    if (all != null) {
      all.forEach(this::tick);
    }
  }

  private void tick(Place place) {
    var bundle = run.bundles.get(place.bundle());
    if (bundle != null) {
      bundle.done.add(place.index());
      if (bundle.isFull()) {
        run.bundles.remove(bundle.number);
      }
    }
  }

  private void join() {
    isLeaving = false;
    long joined =
        transaction(
            t -> {
              t.statement();
              t.lock("split", Mode.EXCLUSIVE);
              long fresh = ++run.epochSequence;
              t.write(() -> run.shares.put(id, new Share(id, fresh)));
              return fresh;
            });
    epoch = joined;
    readUpTo = run.tables.commits();
    world.note(name(), "joins under epoch " + epoch);
  }

  /** Takes free buckets up to the target, and asks those above theirs for the rest. */
  private void take() {
    int target = Math.max(1, SharedRun.BUCKETS / Math.max(1, run.shares.size()));
    if (Long.bitCount(owns) >= target && free() == 0) {
      return;
    }
    String me = id;
    long[] taken = {0};
    long ofEpoch = epoch;
    transaction(
        t -> {
          t.statement();
          t.lock("split", Mode.EXCLUSIVE);
          t.lock("share " + me, Mode.EXCLUSIVE);
          t.statement();
          var share = run.shares.get(me);
          if (share == null || share.epoch != ofEpoch || !run.alive.contains(me)) {
            return false;
          }
          // Under the lock nobody else takes or gives.
          long free = free();
          int missing = target - Long.bitCount(share.owns);
          boolean isNobodyShort =
              run.shares.values().stream()
                  .noneMatch(o -> !o.node.equals(me) && Long.bitCount(o.owns) < target);
          for (long bit = 1; bit <= SharedRun.ALL; bit <<= 1) {
            if ((free & bit) != 0 && (missing > 0 || isNobodyShort)) {
              taken[0] |= bit;
              missing--;
            }
          }
          int open = missing;
          t.write(
              () -> {
                share.owns |= taken[0];
                share.taken(taken[0], run.splitVersion + 1);
                split();
                ask(open, target);
              });
          return true;
        });
    if (taken[0] != 0) {
      world.note(name(), "takes buckets " + Long.toBinaryString(taken[0]));
      readBuckets(taken[0]);
    }
  }

  private void ask(int missing, int target) {
    int open = missing;
    for (var other : run.shares.values()) {
      for (long bit = 1; bit <= SharedRun.ALL && open > 0; bit <<= 1) {
        boolean mayGive = Long.bitCount(other.owns & ~other.give) > target;
        if (!other.node.equals(id) && mayGive && (other.owns & ~other.give & bit) != 0) {
          other.give |= bit;
          open--;
        }
      }
    }
  }

  private long free() {
    long all = SharedRun.ALL;
    for (var share : run.shares.values()) {
      all &= ~share.owns;
    }
    return all;
  }

  private void split() {
    run.splitVersion++;
    var masks = new ArrayList<Long>();
    long rest = SharedRun.ALL;
    for (var share : run.shares.values()) {
      if (share.owns != 0) {
        masks.add(share.owns);
        rest &= ~share.owns;
      }
    }
    if (rest != 0) {
      masks.add(rest);
    }
    run.masks = masks;
  }

  /** Reads the backlog of new buckets in pages of one snapshot. */
  private void readBuckets(long delta) {
    pause(run.delay());
    long snapshot = run.tables.commits();
    if (run.has(SharedBug.NEWER_READ_BEFORE_LAST_PAGE)) {
      owns |= delta;
      pause(run.delay());
      readNews();
    }
    var found = new ArrayList<Place>();
    var existing = new HashSet<Integer>();
    run.lanes.keySet().forEach(existing::add);
    long from = 0;
    while (true) {
      long after = from;
      var page =
          run.bundles.tailMap(after, false).values().stream()
              .filter(b -> (b.buckets & delta) != 0 && b.committed <= snapshot)
              .limit(2)
              .toList();
      for (var bundle : page) {
        waiting(bundle, delta, found);
        from = bundle.number;
      }
      if (page.isEmpty()) {
        break;
      }
      pause(run.delay());
    }
    if (!isStillMine(delta)) {
      return;
    }
    // Both sets continue from the same snapshot.
    readNewsUpTo(snapshot);
    owns |= delta;
    for (var place : found) {
      carry(place);
    }
    blocked.addAll(existing.stream().filter(s -> (SharedRun.bucket(s) & delta) != 0).toList());
    run.lanes.keySet().stream()
        .filter(s -> (SharedRun.bucket(s) & delta) != 0)
        .forEach(blocked::add);
  }

  private boolean isStillMine(long delta) {
    var share = run.shares.get(id);
    return share != null && share.epoch == epoch && (share.owns & delta) == delta;
  }

  private void waiting(Bundle bundle, long mask, List<Place> into) {
    for (int i = 0; i < bundle.elements.size(); i++) {
      var element = bundle.elements.get(i);
      var place = new Place(bundle.number, i, element);
      boolean isNoted = run.notes.getOrDefault(id, List.of()).contains(place);
      if (!bundle.done.contains(i)
          && !isNoted
          && (SharedRun.bucket(element.session()) & mask) != 0) {
        into.add(place);
      }
    }
  }

  private void carry(Place place) {
    carried.computeIfAbsent(place.element().session(), s -> new ArrayDeque<>()).add(place);
  }

  private void readNews() {
    pause(run.delay());
    readNewsUpTo(run.tables.commits());
  }

  private void readNewsUpTo(long snapshot) {
    if (snapshot <= readUpTo) {
      return;
    }
    var found = new ArrayList<Place>();
    run.bundles.values().stream()
        .filter(b -> b.committed > readUpTo && b.committed <= snapshot && (b.buckets & owns) != 0)
        .forEach(bundle -> waiting(bundle, owns, found));
    readUpTo = snapshot;
    found.forEach(this::carry);
  }

  /** Gives buckets up. Sessions in hand become lanes first. */
  private void handOver(long give) {
    String me = id;
    var held =
        holds.values().stream().filter(h -> (SharedRun.bucket(h.session) & give) != 0).toList();
    transaction(
        t -> {
          t.statement();
          t.lock("split", Mode.EXCLUSIVE);
          if (!run.has(SharedBug.OWNS_OUTSIDE_THE_KEY)) {
            t.lock("share " + me, Mode.EXCLUSIVE);
          }
          t.statement();
          var share = run.shares.get(me);
          if (share == null || share.epoch != epoch) {
            return false;
          }
          t.write(
              () -> {
                foldNotes(me);
                if (!run.has(SharedBug.HAND_OVER_WITHOUT_LANES)) {
                  // Sessions that were taken since the statement was built are in hand, too.
                  holds.values().stream()
                      .filter(h -> (SharedRun.bucket(h.session) & give) != 0 && !h.isLane)
                      .forEach(hold -> untie(hold, true));
                }
                share.owns &= ~give;
                share.give &= ~give;
                split();
                owns &= ~give;
                carried.keySet().removeIf(s -> (SharedRun.bucket(s) & give) != 0);
                if (run.has(SharedBug.NEVER_UNBLOCKED)) {
                  blockedForGood.addAll(blocked);
                }
                blocked.removeIf(s -> (SharedRun.bucket(s) & give) != 0);
                world.note(
                    name(), "hands over " + Long.toBinaryString(give) + ", held " + held.size());
              });
          return true;
        });
    if (isLeaving && run.shares.containsKey(me) && run.shares.get(me).owns == 0) {
      isLeaving = false;
    }
  }

  /** Writes the message in hand down as a row, unless it is done already. */
  private void untie(Hold hold, boolean isHeld) {
    var bundle = run.bundles.get(hold.place.bundle());
    boolean isDone = bundle == null || bundle.done.contains(hold.place.index());
    if (isDone) {
      return;
    }
    tick(hold.place);
    var lane = run.lanes.computeIfAbsent(hold.session, Lane::new);
    lane.rows.add(0, hold.element);
    lane.epoch = ++run.epochSequence;
    lane.isHeld = isHeld;
    lane.owner = id;
    lane.until = Math.min(localLimit, world.now() + SharedRun.LANE_LEASE.toNanos());
    hold.isLane = true;
    hold.laneEpoch = lane.epoch;
    world.note(name(), "writes session " + hold.session + " down, epoch " + lane.epoch);
  }

  private void writeDownOld() {
    for (var hold : List.copyOf(holds.values())) {
      boolean isOld = world.now() - hold.since > WRITE_DOWN_AFTER.toNanos();
      if (isOld && !hold.isLane && !hold.isSettling) {
        hold.isWriting = true;
        try {
          writeDown(hold);
        } finally {
          hold.isWriting = false;
        }
      }
    }
  }

  private void writeDown(Hold hold) {
    transaction(
        t -> {
          t.statement();
          t.lock("share " + id, Mode.SHARED);
          if (!isFenceOpen(hold.epoch, SharedRun.bucket(hold.session))) {
            return false;
          }
          t.statement();
          t.lock("lane " + hold.session, Mode.EXCLUSIVE);
          t.write(
              () -> {
                if (hold.equals(holds.get(hold.session))
                    && !run.lanes.containsKey(hold.session)
                    && !isNoted(hold.place)) {
                  untie(hold, true);
                  blocked.add(hold.session);
                }
              });
          return true;
        });
  }

  /** A lane that is held here is renewed while its handler runs. */
  private void renewLanes() {
    for (var lane : List.copyOf(run.lanes.values())) {
      boolean isMine = lane.isHeld && lane.owner.equals(id);
      if (isMine && lane.until - world.now() < SharedRun.LANE_LEASE.toNanos() / 2) {
        long mine = lane.epoch;
        transaction(
            t -> {
              t.statement();
              t.lock("lane " + lane.session, Mode.EXCLUSIVE);
              if (lane.epoch == mine && lane.isHeld && lane.until > world.now()) {
                t.write(() -> lane.until = world.now() + SharedRun.LANE_LEASE.toNanos());
              }
              return true;
            });
      }
    }
  }

  private boolean isNoted(Place place) {
    return run.notes.values().stream().anyMatch(all -> all.contains(place));
  }

  private long bucketSince(int session) {
    var share = run.shares.get(id);
    return share == null ? 0 : share.since(SharedRun.bucket(session));
  }

  private boolean isFenceOpen(long ofEpoch, long touched) {
    var share = run.shares.get(id);
    return share != null
        && share.epoch == ofEpoch
        && (run.has(SharedBug.BUCKETS_NOT_CHECKED) || (share.owns & touched) == touched)
        && (run.has(SharedBug.ALIVE_CHECKED_BY_READERS_ONLY) || run.alive.contains(id));
  }

  private void fold() {
    if (!run.notes.containsKey(id) || world.choices().nextInt(4) > 0) {
      return;
    }
    String me = id;
    transaction(
        t -> {
          t.statement();
          t.lock("share " + me, Mode.EXCLUSIVE);
          t.write(() -> foldNotes(me));
          return true;
        });
  }

  /** Once per second: sessions whose lane is gone go on. */
  private void lookAtLanes() {
    if (world.now() - lastLook < Duration.ofMillis(500).toNanos()) {
      return;
    }
    lastLook = world.now();
    blocked.removeIf(session -> !run.lanes.containsKey(session) && !holds.containsKey(session));
  }

  // Asks.

  private void askForWanted() {
    for (var session : List.copyOf(wanted)) {
      wanted.remove(session);
      transaction(
          t -> {
            t.statement();
            t.write(() -> run.asks.put(session, new Ask(session, id, run.tables.commits())));
            return true;
          });
    }
  }

  private void answerAsks() {
    long snapshot = readUpTo;
    for (var ask : List.copyOf(run.asks.values())) {
      long bucket = SharedRun.bucket(ask.session());
      if ((owns & bucket) == 0) {
        continue;
      }
      if (ask.committed() > snapshot && !run.has(SharedBug.ASK_ANSWERED_FROM_OLD_SNAPSHOT)) {
        continue;
      }
      var inHand = holds.get(ask.session());
      if (inHand != null && (inHand.isSettling || inHand.isWriting)) {
        continue; // Its end is on the way; the next round knows more.
      }
      transaction(
          t -> {
            t.statement();
            t.lock("share " + id, Mode.SHARED);
            if (!isFenceOpen(epoch, bucket)) {
              return false;
            }
            t.statement();
            t.lock("lane " + ask.session(), Mode.EXCLUSIVE);
            t.write(
                () -> {
                  run.asks.remove(ask.session());
                  writeDown(ask.session());
                  run.answered(ask, holds.containsKey(ask.session()));
                });
            return true;
          });
    }
  }

  private void writeDown(int session) {
    var hold = holds.get(session);
    var waiting = carried.get(session);
    if (run.lanes.containsKey(session)) {
      return;
    }
    if (hold != null) {
      if (!hold.isLane && !isNoted(hold.place)) {
        untie(hold, true);
        blocked.add(session);
      }
    } else if (waiting != null && !waiting.isEmpty()) {
      var lane = new Lane(session);
      while (!waiting.isEmpty() && lane.rows.size() < 2) {
        var place = waiting.poll();
        tick(place);
        lane.rows.add(place.element());
      }
      run.lanes.put(session, lane);
      blocked.add(session);
    }
  }

  // Slots.

  private void serve() {
    while (true) {
      pause(Duration.ofMillis(5 + world.choices().nextInt(30)));
      if (!isWithinLease()) {
        continue;
      }
      try {
        if (world.choices().nextBoolean()) {
          serveLane();
        } else {
          serveCarried();
        }
      } catch (Tables.Broken e) {
        world.note(name(), "slot: " + e.getMessage());
      }
    }
  }

  private void serveCarried() {
    for (var entry : carried.entrySet()) {
      int session = entry.getKey();
      if (!holds.containsKey(session)
          && !blocked.contains(session)
          && !blockedForGood.contains(session)
          && !entry.getValue().isEmpty()) {
        var place = entry.getValue().poll();
        var hold =
            new Hold(session, epoch, world.now(), bucketSince(session), place.element(), place);
        holds.put(session, hold);
        serve(hold);
        return;
      }
    }
  }

  private void serve(Hold hold) {
    run.started(this, hold.session, hold.element.message(), false);
    world.note(name(), "handles message " + hold.element.message() + " of session " + hold.session);
    boolean isDone = false;
    try {
      pause(work());
      run.stopped(this, hold.session);
      world.await(() -> !hold.isWriting, Duration.ofSeconds(10));
      hold.isSettling = true;
      isDone = hold.isLane ? settleLane(hold.session, hold.laneEpoch, hold.element) : settle(hold);
      if (!isDone && hold.isLane) {
        // Written down while its settlement was on the way: the lane is still ours.
        isDone = settleLane(hold.session, hold.laneEpoch, hold.element);
      }
    } finally {
      run.stopped(this, hold.session);
      if (holds.remove(hold.session, hold) && !isDone && !hold.isLane) {
        // Nothing is known of its end: everything of the session is read again by who owns it.
        loseShare(hold);
      }
    }
  }

  /** After an outcome that is not known this process gives its share up and joins anew. */
  private void loseShare(Hold hold) {
    if (hold.epoch == epoch && (owns & SharedRun.bucket(hold.session)) != 0) {
      world.note(name(), "leaves, because a settlement is not known");
      isLeaving = true;
    }
  }

  private Duration work() {
    return Duration.ofMillis(
        world.choices().nextInt(5) == 0
            ? 700 + world.choices().nextInt(1500)
            : world.choices().nextInt(80));
  }

  private boolean settle(Hold hold) {
    if (!isWithinLease()) {
      return false;
    }
    long bucket = SharedRun.bucket(hold.session);
    String me = id;
    return transaction(
        t -> {
          t.statement();
          long fence = run.has(SharedBug.CURRENT_EPOCH_FENCES) ? epoch : hold.epoch;
          if (!run.has(SharedBug.OWNS_OUTSIDE_THE_KEY)) {
            t.lock("share " + me, Mode.SHARED);
          }
          if (!isFenceOpen(fence, bucket)) {
            return false;
          }
          if (run.isFixed
              && !run.has(SharedBug.CURRENT_EPOCH_FENCES)
              && !run.has(SharedBug.BUCKETS_NOT_CHECKED)
              && bucketSince(hold.session) != hold.bucketSince) {
            return false; // The bucket went and came back.
          }
          t.statement();
          var bundle = run.bundles.get(hold.place.bundle());
          var share = run.shares.get(me);
          boolean isWhole =
              bundle != null
                  && ((bundle.buckets & ~share.owns) == 0
                      || run.has(SharedBug.MIXED_BUNDLE_TAKEN_FOR_OWN));
          if (isWhole) {
            t.write(() -> note(me, hold.place));
          } else {
            t.lock("bundle " + hold.place.bundle(), Mode.EXCLUSIVE);
            t.write(() -> tickOff(me, hold.place));
          }
          return true;
        });
  }

  private void note(String me, Place place) {
    run.settled(me, place.element());
    if (run.has(SharedBug.MIXED_BUNDLE_TAKEN_FOR_OWN)) {
      var bundle = run.bundles.get(place.bundle());
      if (bundle != null && bundle.done.size() + 1 >= mine(bundle)) {
        run.bundles.remove(place.bundle());
        return;
      }
    }
    run.notes.computeIfAbsent(me, n -> new ArrayList<>()).add(place);
  }

  private int mine(Bundle bundle) {
    return (int)
        bundle.elements.stream().filter(e -> (SharedRun.bucket(e.session()) & owns) != 0).count();
  }

  private void tickOff(String me, Place place) {
    run.settled(me, place.element());
    if (run.has(SharedBug.DELETED_WITHOUT_ALL_BITS)) {
      run.bundles.remove(place.bundle());
    } else {
      tick(place);
    }
  }

  private void serveLane() {
    var claimed =
        transaction(
            t -> {
              t.statement();
              for (var lane : run.lanes.values()) {
                boolean isFree = !lane.isHeld || lane.until <= world.now();
                if (isFree && !lane.rows.isEmpty() && t.tryLock("lane " + lane.session)) {
                  long fresh = ++run.epochSequence;
                  boolean isTakenOver = lane.isHeld;
                  t.write(
                      () -> {
                        lane.isHeld = true;
                        lane.epoch = fresh;
                        lane.owner = id;
                        lane.until = world.now() + SharedRun.LANE_LEASE.toNanos();
                      });
                  return Optional.of(
                      new ClaimedLane(lane.session, fresh, lane.rows.get(0), isTakenOver));
                }
              }
              return Optional.<ClaimedLane>empty();
            });
    claimed.ifPresent(this::serve);
  }

  private void serve(ClaimedLane claimed) {
    run.started(this, claimed.session, claimed.first.message(), claimed.isTakenOver);
    try {
      pause(Duration.ofMillis(world.choices().nextInt(200)));
      run.stopped(this, claimed.session);
      settleLane(claimed.session, claimed.epoch, claimed.first);
    } finally {
      run.stopped(this, claimed.session);
    }
  }

  private record ClaimedLane(int session, long epoch, Element first, boolean isTakenOver) {}

  private boolean settleLane(int session, long laneEpoch, Element element) {
    return transaction(
        t -> {
          t.statement();
          t.lock("lane " + session, Mode.EXCLUSIVE);
          var lane = run.lanes.get(session);
          if (lane == null
              || lane.epoch != laneEpoch
              || lane.until <= world.now()
              || !lane.rows.get(0).equals(element)) {
            return false;
          }
          t.write(
              () -> {
                run.settled(id, element);
                lane.rows.remove(0);
                lane.isHeld = false;
                if (lane.rows.isEmpty()) {
                  run.lanes.remove(session);
                }
              });
          return true;
        });
  }
}
