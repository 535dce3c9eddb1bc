package dev.sessionkeeper.memory;

import dev.sessionkeeper.Page;
import dev.sessionkeeper.PageCursor;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.DeadLetter;
import dev.sessionkeeper.spi.DeadLetterQueues.Selection;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;

/** The dead letters of one queue, oldest first. Thread-safe. */
final class DeadLetterShelf {
  private final String cursorName;
  private final AtomicLong lastId = new AtomicLong();
  private final AtomicLong count = new AtomicLong();
  private final ConcurrentSkipListMap<Long, DeadLetter> letters = new ConcurrentSkipListMap<>();

  DeadLetterShelf(QueueName queue) {
    cursorName = "dead-letters/" + queue;
  }

  void add(Stored stored, int attempts, String reason, String lastError, Instant deadAt) {
    long id = lastId.incrementAndGet();
    letters.put(
        id,
        new DeadLetter(
            Long.toString(id),
            stored.message,
            stored.sequence,
            attempts,
            reason,
            lastError,
            stored.enqueuedAt,
            deadAt,
            stored.replays));
    count.incrementAndGet();
  }

  long size() {
    return count.get();
  }

  Page<DeadLetter> page(Optional<SessionId> session, Page.Request request) {
    long behind =
        request.cursor().map(cursor -> PageCursor.numberOf(cursorName, cursor)).orElse(0L);
    var found =
        letters.tailMap(behind, false).values().stream()
            .filter(letter -> session.isEmpty() || session.equals(letter.message().session()))
            .limit(request.limit() + 1L)
            .toList();
    return Page.of(
        found,
        request,
        letter -> letter.message().size(),
        letter -> PageCursor.after(cursorName, letter.id()));
  }

  /** Returns the selected dead letters in the order in which their messages were sent. */
  List<DeadLetter> select(Selection selection) {
    return letters.values().stream()
        .filter(chosenBy(selection))
        .sorted(Comparator.comparingLong(DeadLetter::sequence))
        .toList();
  }

  /** Returns one dead letter; empty if there is none with that id. */
  Optional<DeadLetter> find(String id) {
    return isNumber(id) ? Optional.ofNullable(letters.get(Long.parseLong(id))) : Optional.empty();
  }

  /** Removes all present dead letters and returns their number. */
  long clear() {
    return letters.keySet().stream().filter(id -> remove(Long.toString(id))).count();
  }

  private static boolean isNumber(String id) {
    return id.matches("[0-9]{1,18}");
  }

  /** Removes a dead letter. Returns false if another thread has removed it before. */
  boolean remove(String id) {
    boolean removed = isNumber(id) && letters.remove(Long.parseLong(id)) != null;
    if (removed) {
      count.decrementAndGet();
    }
    return removed;
  }

  private static Predicate<DeadLetter> chosenBy(Selection selection) {
    return switch (selection) {
      case Selection.All all -> letter -> true;
      case Selection.OfSession one ->
          letter -> letter.message().session().filter(one.session()::equals).isPresent();
      case Selection.OfMessages some -> {
        var wanted = new HashSet<>(some.ids());
        yield letter -> wanted.contains(letter.message().id());
      }
    };
  }
}
