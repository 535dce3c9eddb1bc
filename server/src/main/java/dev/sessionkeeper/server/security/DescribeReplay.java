package dev.sessionkeeper.server.security;

import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.DeadLetterQueues.Selection;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Describes a replay for the audit log. A replay of single messages has an entry for each of their
 * sessions, so that the timeline of the session shows it.
 */
public final class DescribeReplay {
  private static final int MOST_NAMED = 50;

  private DescribeReplay() {}

  /**
   * Returns the entries of a replay.
   *
   * @param messages the selected dead letters by session; used for a selection of messages only
   * @param count the dead letters that were put back
   */
  public static List<AuditLog.Entry> entries(
      QueueName queue,
      Selection selection,
      Map<Optional<SessionId>, List<MessageId>> messages,
      int count,
      AuditedQueues.ReplayEntry entry) {
    return switch (selection) {
      case Selection.All all ->
          List.of(entry.of(queue.value(), count(count, "dead letter") + " of the queue"));
      case Selection.OfSession of ->
          List.of(
              entry.of(
                  queue + "/" + of.session(), count(count, "dead letter") + " of the session"));
      case Selection.OfMessages of -> ofMessages(queue, of, messages, count, entry);
    };
  }

  private static List<AuditLog.Entry> ofMessages(
      QueueName queue,
      Selection.OfMessages selection,
      Map<Optional<SessionId>, List<MessageId>> messages,
      int count,
      AuditedQueues.ReplayEntry entry) {
    int found = messages.values().stream().mapToInt(List::size).sum();
    if (found == 0) {
      var asked = named(selection.ids());
      return List.of(
          entry.of(queue.value(), count == 0 ? asked + ": no dead letter any more" : asked));
    }
    var entries = new ArrayList<AuditLog.Entry>();
    messages.forEach(
        (session, ids) ->
            entries.add(
                entry.of(
                    session.map(id -> queue + "/" + id).orElse(queue.value()),
                    named(ids)
                        + (count == found
                            ? ""
                            : "; " + count + " of these " + found + " were put back"))));
    return entries;
  }

  private static String named(List<MessageId> ids) {
    return (ids.size() == 1 ? "message " : "messages ")
        + ids.stream().limit(MOST_NAMED).map(MessageId::value).collect(Collectors.joining(", "))
        + (ids.size() > MOST_NAMED ? " and " + (ids.size() - MOST_NAMED) + " more" : "");
  }

  private static String count(int number, String noun) {
    return number + " " + noun + (number == 1 ? "" : "s");
  }
}
