package dev.sessionkeeper.memory;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.BatchLimit;
import dev.sessionkeeper.spi.DeadLetter;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Planted bugs of purges, deletions and answers bounded in bytes: O-06 to O-08, S-12. */
final class RemovalBugs {
  private RemovalBugs() {}

  static List<PlantedBug> all() {
    return List.of(
        new PlantedBug("O-06", "a purge deletes the dead letters, too", PurgesAll::new),
        new PlantedBug("O-06a", "a purge leaves messages to their owners", SparesOwners::new),
        new PlantedBug("O-07", "a deleted queue still takes messages", StillSends::new),
        new PlantedBug("O-07a", "dead letters outlive their queue", KeepsDeadLetters::new),
        new PlantedBug("O-08", "a purge of dead letters deletes nothing", KeepsLetters::new),
        HoldingBugs.session("S-12", "a receive has no limit in bytes", IgnoresBytes::new),
        new PlantedBug("S-12a", "a page has no limit in bytes", LargePages::new));
  }

  private static final class PurgesAll extends Breakable {
    PurgesAll(TimeSource time) {
      super(time);
    }

    @Override
    public long purge(QueueName queue, Part part) {
      super.purge(queue, Part.DEAD_LETTERS);
      return super.purge(queue, part);
    }
  }

  /** Purges only when no session is held. */
  private static final class SparesOwners extends Breakable {
    SparesOwners(TimeSource time) {
      super(time);
    }

    @Override
    public long purge(QueueName queue, Part part) {
      return stats(queue).heldSessions() > 0 ? 0 : super.purge(queue, part);
    }
  }

  private static final class StillSends extends Breakable {
    private final Set<QueueName> deleted = new HashSet<>();

    StillSends(TimeSource time) {
      super(time);
    }

    @Override
    public boolean delete(QueueName queue) {
      deleted.add(queue);
      return super.delete(queue);
    }

    @Override
    public List<SendOutcome> send(QueueName queue, List<Message> messages) {
      return deleted.contains(queue) ? List.of() : super.send(queue, messages);
    }

    @Override
    public boolean declare(QueueName queue, QueueSettings settings) {
      deleted.remove(queue);
      return super.declare(queue, settings);
    }
  }

  /** Empties a queue instead of deleting it. */
  private static final class KeepsDeadLetters extends Breakable {
    KeepsDeadLetters(TimeSource time) {
      super(time);
    }

    @Override
    public boolean delete(QueueName queue) {
      boolean isThere = settings(queue).isPresent();
      if (isThere) {
        purge(queue, Part.MESSAGES);
      }
      return isThere;
    }
  }

  private static final class KeepsLetters extends Breakable {
    KeepsLetters(TimeSource time) {
      super(time);
    }

    @Override
    public long purge(QueueName queue, Part part) {
      return part == Part.DEAD_LETTERS ? 0 : super.purge(queue, part);
    }
  }

  private static final class IgnoresBytes extends BreakableSession {
    IgnoresBytes(HeldSession inner) {
      super(inner);
    }

    @Override
    public List<Delivery> receive(BatchLimit limit, Duration wait) throws InterruptedException {
      return receive(limit.messages(), wait);
    }
  }

  private static final class LargePages extends Breakable {
    LargePages(TimeSource time) {
      super(time);
    }

    @Override
    public Page<DeadLetter> deadLetters(
        QueueName queue, Optional<SessionId> session, Page.Request page) {
      return super.deadLetters(queue, session, page.withMaxBytes(Long.MAX_VALUE));
    }
  }
}
