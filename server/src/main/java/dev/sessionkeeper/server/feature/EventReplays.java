package dev.sessionkeeper.server.feature;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.server.http.QueueFilter;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/** Counts stored events and sends them to their bots again, in steps. */
public interface EventReplays {

  /** Selects stored events; an empty field selects all. */
  record Selection(
      Optional<UUID> eventId,
      Optional<String> bot,
      Optional<String> repository,
      Optional<String> sessionId,
      Optional<String> type,
      Optional<Instant> from,
      Optional<Instant> to) {}

  /**
   * The messages that a replay would send.
   *
   * @param lastEvent the newest event; later events are not part of the replay
   * @param samples the first events
   */
  record Counted(long messages, long lastEvent, List<String> samples) {}

  /**
   * The result of a step.
   *
   * @param behind the last event that was examined
   * @param examined the messages that the step should send
   * @param sent the messages that it sent; an event may have been deleted meanwhile
   */
  record Step(long behind, int examined, int sent, boolean isLast) {}

  /**
   * Returns the queues of today's bots that the selection names and the caller may see.
   *
   * @throws dev.sessionkeeper.server.json.InvalidInput if the selection names no such bot
   */
  Set<QueueName> queues(Selection selection, QueueFilter visible);

  Counted count(Selection selection, Set<QueueName> queues, int samples);

  /**
   * Sends the next events within the caller's transaction, so that a step and its progress are
   * stored together.
   *
   * @param run the id that the messages carry; their own ids follow from it
   * @param behind the last event of the step before
   * @param lastEvent of {@link Counted}
   */
  Step send(
      Connection connection,
      UUID run,
      Selection selection,
      Set<QueueName> queues,
      long behind,
      long lastEvent)
      throws SQLException;

  /** Notifies the consumers of these queues after the commit. */
  void committed(Collection<QueueName> queues);
}
