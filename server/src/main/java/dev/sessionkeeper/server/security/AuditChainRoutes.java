package dev.sessionkeeper.server.security;

import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.store.AuditChain;
import dev.sessionkeeper.store.Database;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/** Exports the audit log and checks that no row was changed, removed or inserted. */
public final class AuditChainRoutes {
  private static final Scope SCOPE = Scope.server("Audit entries");
  private static final int MOST_LINES = 5_000;

  private final Database database;

  public AuditChainRoutes(Database database) {
    this.database = database;
  }

  public List<Route> routes() {
    return List.of(
        Route.get("/audit/export", Role.ADMIN, SCOPE, this::export)
            .summary(
                "The audit log as NDJSON, oldest first; each line has its number in the chain, the"
                    + " hash before it and its own")
            .query("after", "Only entries with a greater seq. Default: 0")
            .query("limit", "Lines, 1 to 5000. Default: 5000")
            .answers(200, "One JSON object per line", "application/x-ndjson"),
        Route.get("/audit/verify", Role.ADMIN, SCOPE, this::verify)
            .summary("Compute the hash of every audit entry again")
            .answers(200, "Whether the chain is intact", Verification.class));
  }

  /**
   * The result of a check.
   *
   * @param entries entries in the chain
   * @param forgotten older entries that retention has deleted
   * @param lastHash the hash of the newest entry; store it elsewhere to detect a truncated log
   * @param brokenAt the number of the first entry that does not match
   */
  record Verification(
      boolean intact,
      Optional<Long> entries,
      Optional<Long> forgotten,
      Optional<String> lastHash,
      Optional<Long> brokenAt,
      Optional<String> reason) {
    static Verification of(AuditChain.Verdict verdict) {
      return switch (verdict) {
        case AuditChain.Verdict.Intact holds ->
            new Verification(
                true,
                Optional.of(holds.rows()),
                Optional.of(holds.forgotten()),
                Optional.of(hex(holds.last())),
                Optional.empty(),
                Optional.empty());
        case AuditChain.Verdict.Broken broken ->
            new Verification(
                false,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.of(broken.seq()),
                Optional.of(broken.why()));
      };
    }
  }

  private record Range(long after, int limit) {}

  private Response export(Request request) {
    var range =
        request.query(
            in -> {
              var after = in.optional("after", 0L, Decode.integer(0L, Long.MAX_VALUE));
              var limit = in.optional("limit", MOST_LINES, Decode.integer(1, MOST_LINES));
              in.check();
              return new Range(after.get(), limit.get());
            });
    SealAudit.all(database);
    return Response.stream(
        "application/x-ndjson", new ExportAudit(database, range.after(), range.limit()));
  }

  private Response verify(Request request) {
    SealAudit.all(database);
    return Response.ok(Verification.of(database.withConnection(AuditChain::verify)));
  }

  static String hex(byte[] hash) {
    return HexFormat.of().formatHex(hash);
  }
}
