package dev.sessionkeeper.sqs;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.PageCursor;
import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.DeadLetter;
import dev.sessionkeeper.spi.DeadLetterQueues.Selection;
import dev.sessionkeeper.sqs.SqsCalls.Hidden;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The dead-letter queue of one queue.
 *
 * <p>SQS has no call that only lists: every call receives all dead letters, hides them for half a
 * minute, and releases those it does not take. Two processes that list at the same time see a part
 * each.
 */
final class SqsDeadLetters {
  private static final String LIST = "sqs-dead";
  private static final int HIDDEN_SECONDS = 30;
  private static final int MOST = 10_000;

  private final SqsQueue queue;
  private final String sqsName;
  private final boolean isShared;

  /**
   * Creates the dead letters of a queue.
   *
   * @param sqsName the queue's name in SQS
   * @param isShared whether other queues may have their dead letters in the same SQS queue
   */
  SqsDeadLetters(SqsQueue queue, String sqsName, boolean isShared) {
    this.queue = queue;
    this.sqsName = sqsName;
    this.isShared = isShared;
  }

  Page<DeadLetter> list(Optional<SessionId> session, Page.Request page) {
    long behind =
        page.cursor().map(cursor -> PageCursor.numberOf(LIST, cursor)).orElse(Long.MIN_VALUE);
    return withAll(
        all -> {
          var found =
              all.stream()
                  .filter(dead -> dead.sequence() > behind)
                  .filter(dead -> session.isEmpty() || session.equals(dead.message().session()))
                  .limit(page.limit() + 1L)
                  .toList();
          var shown =
              Page.of(
                  found,
                  page,
                  dead -> dead.message().size(),
                  dead -> PageCursor.after(LIST, Long.toString(dead.sequence())));
          return new Page<>(
              shown.items().stream().map(SqsDeadLetters::describe).toList(), shown.next());
        });
  }

  int count(Selection selection) {
    return withAll(all -> (int) all.stream().filter(wanted(selection)).count());
  }

  /**
   * Sends dead letters again in their original order; each is deleted here after it is stored
   * there.
   */
  int replay(Selection selection) {
    return withAll(
        all -> {
          var chosen =
              all.stream()
                  .filter(wanted(selection))
                  .sorted(Comparator.comparingLong(SqsDeadLetters::sequenceOf))
                  .toList();
          for (var dead : chosen) {
            putBack(dead);
            all.remove(dead);
          }
          return chosen.size();
        });
  }

  private void putBack(Received dead) {
    var message =
        MessageCodec.encode(
            dead.message(), dead.natives(), dead.replays() + 1, sequenceOf(dead), Map.of());
    var result = queue.calls().send(List.of(message)).get(0);
    if (result == null || result.isRefused()) {
      throw new KeeperException.Unavailable(
          "Queue " + queue.name() + (result == null ? "" : ", " + result.refusal()));
    }
    queue.deadLetters().delete(List.of(dead.receipt()));
  }

  /** Deletes the selected dead letters and returns how many there were. */
  int discard(Selection selection) {
    return withAll(
        all -> {
          var chosen = all.stream().filter(wanted(selection)).toList();
          queue.deadLetters().delete(chosen.stream().map(Received::receipt).toList());
          all.removeAll(chosen);
          return chosen.size();
        });
  }

  boolean discard(String id) {
    return withAll(
        all -> {
          var found = all.stream().filter(dead -> dead.messageId().equals(id)).findFirst();
          found.ifPresent(
              dead -> {
                queue.deadLetters().delete(List.of(dead.receipt()));
                all.remove(dead);
              });
          return found.isPresent();
        });
  }

  /**
   * Receives all dead letters, oldest first, and releases those that the action leaves in the list.
   */
  private synchronized <T> T withAll(Function<List<Received>, T> action) {
    var all = new ArrayList<Received>();
    var others = new ArrayList<Received>();
    try {
      List<Received> batch;
      do {
        batch = queue.deadLetters().receive(SqsCalls.BATCH, 0, HIDDEN_SECONDS);
        all.addAll(batch);
      } while (!batch.isEmpty() && all.size() < MOST);
      all.sort(Comparator.comparingLong(Received::sequence));
      all.stream().filter(dead -> !isOurs(dead)).forEach(others::add);
      all.removeAll(others);
      return action.apply(all);
    } finally {
      all.addAll(others);
      queue
          .deadLetters()
          .hideAll(all.reversed().stream().map(dead -> new Hidden(dead.receipt(), 0)).toList());
    }
  }

  /**
   * Returns whether the dead letter is from this queue: several queues may share one dead-letter
   * queue.
   */
  private boolean isOurs(Received dead) {
    if (dead.dead().containsKey("queue")) {
      return dead.dead().get("queue").equals(queue.name().value());
    }
    return dead.deadSource().map(arn -> arn.endsWith(":" + sqsName)).orElseGet(() -> !isShared);
  }

  private static Predicate<Received> wanted(Selection selection) {
    return switch (selection) {
      case Selection.All all -> dead -> true;
      case Selection.OfSession of ->
          dead -> dead.message().session().equals(Optional.of(of.session()));
      case Selection.OfMessages of -> {
        var ids = Set.copyOf(of.ids());
        yield dead -> ids.contains(dead.message().id());
      }
    };
  }

  private static long sequenceOf(Received dead) {
    return dead.dead().containsKey("sequence")
        ? Long.parseLong(dead.dead().get("sequence"))
        : dead.originalSequence();
  }

  /**
   * Describes a dead letter. If SQS itself moved the message, after a thousand receives, the dead
   * letter has no reason from this provider.
   */
  private static DeadLetter describe(Received dead) {
    var words = dead.dead();
    return new DeadLetter(
        dead.messageId(),
        dead.message(),
        sequenceOf(dead),
        Integer.parseInt(words.getOrDefault("attempts", "0")),
        words.getOrDefault("reason", PoisonPolicy.USED_UP),
        words.getOrDefault("error", ""),
        words.containsKey("enqueued-at") ? Instant.parse(words.get("enqueued-at")) : dead.sentAt(),
        words.containsKey("dead-at") ? Instant.parse(words.get("dead-at")) : dead.sentAt(),
        dead.replays());
  }
}
