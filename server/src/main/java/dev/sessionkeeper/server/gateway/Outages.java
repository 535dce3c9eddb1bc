package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Remembers which messages met an endpoint that is down: since when, and how often.
 *
 * <p>With a table, all servers share these records, so a server that takes a message over continues
 * its count. While the database does not answer, this server counts alone. Safe for use by many
 * threads.
 */
final class Outages {
  private static final Logger log = LoggerFactory.getLogger(Outages.class);
  private static final int REMEMBERED = 10_000;

  private final TimeSource time;
  private final Optional<OutageTable> table;
  private final LinkedHashMap<MessageId, Outage> open =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<MessageId, Outage> eldest) {
          return size() > REMEMBERED;
        }
      };

  Outages(TimeSource time, Optional<OutageTable> table) {
    this.time = time;
    this.table = table;
  }

  /**
   * The failed posts of one message.
   *
   * @param times in the current outage; 0 if the endpoint has answered since
   * @param posts in all outages
   */
  private record Outage(long since, int times, int posts) {
    Outage again(long now) {
      return new Outage(times == 0 ? now : since, times + 1, posts + 1);
    }
  }

  /**
   * The current outage of a message.
   *
   * @param lasted the time since the first failure
   * @param times how often the endpoint failed, including now
   */
  record Met(Duration lasted, int times) {}

  /** Records that the endpoint failed again for this message. */
  Met again(MessageId message) {
    var outage = stored(() -> table.map(rows -> outage(rows.again(message))));
    return outage.isPresent() ? met(remember(message, outage.get())) : againHere(message);
  }

  private synchronized Met againHere(MessageId message) {
    return met(
        open.merge(
            message,
            new Outage(time.nanoTime(), 1, 1),
            (before, now) -> before.again(now.since())));
  }

  private Met met(Outage outage) {
    return new Met(time.since(outage.since()), outage.times());
  }

  /** Returns how many posts of this message failed because the endpoint was down. */
  int postsOf(MessageId message) {
    var known = here(message);
    if (known.isPresent()) {
      return known.get().posts();
    }
    return stored(() -> table.flatMap(rows -> rows.find(message)).map(this::outage))
        .map(found -> remember(message, found).posts())
        .orElse(0);
  }

  /** Records that the endpoint answered and refused this message, which will be posted again. */
  void answered(MessageId message) {
    here(message)
        .filter(outage -> outage.times() > 0)
        .ifPresent(
            outage -> {
              remember(message, new Outage(outage.since(), 0, outage.posts()));
              write(() -> table.ifPresent(rows -> rows.answered(message)));
            });
  }

  /** Forgets a message that was delivered or given up. */
  void over(MessageId message) {
    if (forget(message)) {
      write(() -> table.ifPresent(rows -> rows.over(message)));
    }
  }

  private synchronized Optional<Outage> here(MessageId message) {
    return Optional.ofNullable(open.get(message));
  }

  private synchronized Outage remember(MessageId message, Outage outage) {
    open.put(message, outage);
    return outage;
  }

  private synchronized boolean forget(MessageId message) {
    return open.remove(message) != null;
  }

  private Outage outage(OutageTable.Stored stored) {
    return new Outage(time.nanoTime() - stored.lasted().toNanos(), stored.times(), stored.posts());
  }

  private static Optional<Outage> stored(Supplier<Optional<Outage>> call) {
    try {
      return call.get();
    } catch (KeeperException e) {
      log.debug("Outages are counted by this server alone for now: {}", e.getMessage());
      return Optional.empty();
    }
  }

  private static void write(Runnable call) {
    try {
      call.run();
    } catch (KeeperException e) {
      log.debug("The end of an outage is not noted: {}", e.getMessage());
    }
  }
}
