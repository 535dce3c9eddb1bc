package dev.sessionkeeper.server.security;

import static dev.sessionkeeper.server.security.AuditChainRoutes.hex;

import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.ResponseStream;
import dev.sessionkeeper.server.json.Json;
import dev.sessionkeeper.store.AuditChain;
import dev.sessionkeeper.store.Database;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * Writes audit entries as lines of JSON, a page at a time.
 *
 * <p>Runs on the request's thread. I1: one page is in memory, and no connection of the database is
 * held while the client reads.
 */
final class ExportAudit implements Response.StreamBody {
  private static final int PAGE = 100;
  private static final Duration SLOW_READER = Duration.ofSeconds(30);

  private final Database database;
  private long after;
  private int left;

  /**
   * Creates the writer of one export.
   *
   * @param after the number before the first line
   * @param limit how many lines at most
   */
  ExportAudit(Database database, long after, int limit) {
    this.database = database;
    this.after = after;
    this.left = limit;
  }

  /** A row of the export. */
  record Line(
      long seq,
      Instant at,
      String actor,
      String source,
      String action,
      String target,
      String reason,
      String details,
      int count,
      String previous,
      String hash) {
    static Line of(AuditChain.Link link) {
      var entry = link.row().entry();
      return new Line(
          link.seq(),
          link.row().at(),
          entry.actor().name(),
          entry.actor().source(),
          entry.action(),
          entry.target(),
          entry.reason(),
          entry.details(),
          entry.count(),
          hex(link.previous()),
          hex(link.hash()));
    }
  }

  @Override
  public void writeTo(ResponseStream out) throws InterruptedException {
    var page = next();
    while (!page.isEmpty() && out.write(lines(page), SLOW_READER)) {
      after = page.getLast().seq();
      left -= page.size();
      page = next();
    }
  }

  private List<AuditChain.Link> next() {
    int most = Math.min(left, PAGE);
    return most == 0
        ? List.of()
        : database.withConnection(connection -> AuditChain.after(connection, after, most));
  }

  private static byte[] lines(List<AuditChain.Link> page) {
    var lines = new ByteArrayOutputStream();
    for (var link : page) {
      lines.writeBytes(Json.write(Line.of(link)));
      lines.write('\n');
    }
    return lines.toByteArray();
  }
}
