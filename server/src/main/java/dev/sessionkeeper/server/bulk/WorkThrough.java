package dev.sessionkeeper.server.bulk;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.jobs.JobContext;
import dev.sessionkeeper.postgres.SearchDeadLetters;
import dev.sessionkeeper.postgres.SearchSessions;
import dev.sessionkeeper.server.feature.EventReplays;
import dev.sessionkeeper.server.security.AuditLog;
import dev.sessionkeeper.server.security.AuditedQueues;
import dev.sessionkeeper.spi.DeadLetterQueues.Selection;
import dev.sessionkeeper.spi.SessionView;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Executes waiting bulk runs, step by step. Each step records its progress, and after a crash the
 * next owner of the job continues there. Acts on sessions and dead letters are done and audited one
 * by one: at most one step is repeated, and each act finds that it was done. Events are sent in the
 * transaction that records the progress, so none is sent twice.
 */
final class WorkThrough {
  private static final int STEP = 50;
  private static final Logger log = LoggerFactory.getLogger(WorkThrough.class);

  private final BulkTable table;
  private final SearchSessions sessions;
  private final SearchDeadLetters letters;
  private final AuditedQueues audited;
  private final Optional<EventReplays> events;

  WorkThrough(
      BulkTable table,
      SearchSessions sessions,
      SearchDeadLetters letters,
      AuditedQueues audited,
      Optional<EventReplays> events) {
    this.table = table;
    this.sessions = sessions;
    this.letters = letters;
    this.audited = audited;
    this.events = events;
  }

  /** Executes runs until none waits or this process loses the job. */
  void work(JobContext job) {
    while (job.isHeld() && !job.isStopping()) {
      var next = table.next();
      if (next.isEmpty()) {
        return;
      }
      job.report(
          next.get().run().act() + " " + next.get().run().done() + "/" + next.get().run().total());
      step(next.get(), job);
    }
  }

  private void step(BulkTable.Row row, JobContext job) {
    try {
      var act = BulkAct.valueOf(constant(row.run().act()));
      if (act.isOnEvents()) {
        sendEvents(row, job);
        return;
      }
      var step = act.onSession().isPresent() ? onSessions(row, act) : onLetters(row, act);
      job.inFencedTransaction(
          connection ->
              step.isLast()
                  ? BulkTable.advance(
                          connection, row.run().id(), step.behind(), step.done(), step.changed())
                      && BulkTable.end(connection, row.run().id(), "finished", "")
                  : BulkTable.advance(
                      connection, row.run().id(), step.behind(), step.done(), step.changed()));
    } catch (KeeperException.Unavailable
        | KeeperException.OutcomeUnknown
        | KeeperException.LockLost e) {
      throw e; // The job tries again, on this node or another.
    } catch (RuntimeException e) {
      log.warn("The bulk run {} ended: {}", row.run().id(), e.toString());
      var error = String.valueOf(e.getMessage());
      job.inFencedTransaction(c -> BulkTable.end(c, row.run().id(), "failed", error));
    }
  }

  /**
   * Sends the next events again. Messages and progress are one transaction, so that a step is never
   * repeated.
   */
  private void sendEvents(BulkTable.Row row, JobContext job) {
    var replays =
        events.orElseThrow(() -> new IllegalStateException("This server keeps no events any more"));
    var id = row.run().id();
    var selection = BulkFilter.parse(row.run().filter().text()).events();
    long behind = row.behind().isEmpty() ? 0 : Long.parseLong(row.behind());
    try {
      job.inFencedTransaction(
          connection -> {
            var step =
                replays.send(
                    connection, id, selection, row.queues(), behind, Long.parseLong(row.bound()));
            if (!BulkTable.advance(
                connection, id, Long.toString(step.behind()), step.examined(), step.sent())) {
              throw new StoppedMeanwhile();
            }
            return step.isLast() && BulkTable.end(connection, id, "finished", "");
          });
    } catch (StoppedMeanwhile e) {
      log.debug("The bulk run {} was stopped during a step, which is undone", id);
      return;
    }
    replays.committed(row.queues());
  }

  /** Rolls a step back because an operator stopped its run. */
  private static final class StoppedMeanwhile extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  private static String constant(String word) {
    return word.replaceAll("([A-Z])", "_$1").toUpperCase(Locale.ROOT);
  }

  /** The result of one step. */
  private record Step(String behind, int done, int changed, boolean isLast) {}

  private Step onSessions(BulkTable.Row row, BulkAct act) {
    var queue = row.queue();
    var filter = BulkFilter.parse(row.run().filter().text());
    var cursor = Optional.of(row.behind()).filter(text -> !text.isEmpty());
    var page = sessions.page(queue, filter.sessions(), new Page.Request(STEP, cursor)).page();
    var counted = Instant.parse(row.bound());
    int changed = 0;
    for (var view : page.items()) {
      if (wasThere(view, counted)) {
        changed += act(row, queue, view.id(), act) > 0 ? 1 : 0;
      }
    }
    return new Step(page.next().orElse(""), page.items().size(), changed, page.next().isEmpty());
  }

  /**
   * Leaves out sessions that reached their status after the dry run: the operator did not confirm
   * them.
   */
  private static boolean wasThere(SessionView view, Instant counted) {
    return view.blockedSince().map(since -> !since.isAfter(counted)).orElse(true);
  }

  private int act(BulkTable.Row row, QueueName queue, SessionId session, BulkAct act) {
    var reason = row.run().reason();
    return audited.act(
        queue,
        session,
        act.onSession().orElseThrow(),
        reason,
        count ->
            AuditLog.Entry.of(
                row.actor(),
                "session." + act,
                queue + "/" + session,
                count + " affected; " + reason + " (bulk " + row.run().id() + ")"));
  }

  private Step onLetters(BulkTable.Row row, BulkAct act) {
    var queue = row.queue();
    var filter = BulkFilter.parse(row.run().filter().text()).deadLetters();
    long behind = row.behind().isEmpty() ? 0 : Long.parseLong(row.behind());
    var found = letters.oldest(queue, filter.upTo(Long.parseLong(row.bound())), behind, STEP);
    if (found.isEmpty()) {
      return new Step(row.behind(), 0, 0, true);
    }
    int changed = act == BulkAct.REPLAY ? replay(row, queue, found) : discard(row, queue, found);
    var last = Long.toString(found.getLast().id());
    return new Step(last, found.size(), changed, found.size() < STEP);
  }

  private int replay(BulkTable.Row row, QueueName queue, List<SearchDeadLetters.Named> found) {
    List<MessageId> ids = found.stream().map(SearchDeadLetters.Named::message).toList();
    return audited.replay(
        queue,
        new Selection.OfMessages(ids),
        (target, what) ->
            AuditLog.Entry.of(
                row.actor(),
                "dead-letters.replay",
                target,
                row.run().reason() + "; " + what + " (bulk " + row.run().id() + ")"));
  }

  private int discard(BulkTable.Row row, QueueName queue, List<SearchDeadLetters.Named> found) {
    int changed = 0;
    for (var letter : found) {
      var entry =
          AuditLog.Entry.of(
              row.actor(),
              "dead-letters.discard",
              queue + "/" + letter.id(),
              row.run().reason() + " (bulk " + row.run().id() + ")");
      changed += audited.discard(queue, Long.toString(letter.id()), count -> entry) ? 1 : 0;
    }
    return changed;
  }
}
