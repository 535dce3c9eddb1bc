package dev.sessionkeeper.server.security;

import dev.sessionkeeper.Page;
import dev.sessionkeeper.store.AuditLog.Filter;
import dev.sessionkeeper.store.AuditLog.Row;
import dev.sessionkeeper.time.TimeSource;
import java.util.ArrayDeque;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps the newest entries in memory, and logs all of them. */
public final class MemoryAuditLog implements AuditLog {
  private static final Logger log = LoggerFactory.getLogger("audit");
  private static final int MOST = 10_000;

  private final Deque<Row> newestFirst = new ArrayDeque<>();
  private final TimeSource time;
  private long last;

  public MemoryAuditLog(TimeSource time) {
    this.time = time;
  }

  @Override
  public synchronized void record(Entry entry) {
    log.info(
        "{} {} {}: {} ({} times)",
        entry.actor(),
        entry.action(),
        entry.target(),
        entry.detail(),
        entry.count());
    newestFirst.addFirst(new Row(++last, time.instant(), entry.toStore()));
    if (newestFirst.size() > MOST) {
      newestFirst.removeLast();
    }
  }

  @Override
  public synchronized Page<Row> read(Filter filter, Page.Request page) {
    long before = page.cursor().map(dev.sessionkeeper.store.AuditLog::idIn).orElse(Long.MAX_VALUE);
    var found =
        newestFirst.stream()
            .filter(row -> row.id() < before && matches(row, filter))
            .limit(page.limit() + 1L)
            .toList();
    return Page.of(found, page.limit(), dev.sessionkeeper.store.AuditLog::cursorAfter);
  }

  private static boolean matches(Row row, Filter filter) {
    var entry = row.entry();
    return filter.actor().map(entry.actor().name()::equals).orElse(true)
        && filter.action().map(entry.action()::equals).orElse(true)
        && filter.target().map(entry.target()::equals).orElse(true)
        && filter.from().map(from -> !row.at().isBefore(from)).orElse(true)
        && filter.to().map(to -> row.at().isBefore(to)).orElse(true);
  }
}
