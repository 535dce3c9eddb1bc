package dev.sessionkeeper.server.security;

import dev.sessionkeeper.Page;
import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import dev.sessionkeeper.store.AuditLog.Filter;
import dev.sessionkeeper.store.AuditLog.Row;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Shows the audit log. */
public final class AuditRoutes {
  private static final int MAX_TEXT = 1_000;

  private final AuditLog audit;

  public AuditRoutes(AuditLog audit) {
    this.audit = audit;
  }

  public List<Route> routes() {
    return List.of(
        Route.get("/audit", Role.ADMIN, Scope.server("Audit entries"), this::list)
            .summary("The audit log, newest first: acts of people, reloads and refused requests")
            .query("actor", "Only acts of this credential")
            .query("action", "Only this action, such as session.park or access.refused")
            .query("target", "Only acts on this object, such as orders/cust-42")
            .query("from", "Written at this time or later")
            .query("to", "Written before this time")
            .query("limit", "Entries per page, 1 to 1000")
            .query("cursor", "nextCursor of the previous page")
            .answers(200, "A page", Listing.class)
            .problems(ProblemType.INVALID_CURSOR));
  }

  /**
   * An entry as the API shows it.
   *
   * @param source the address of the caller; blank for acts of the server itself
   * @param count how many equal acts the entry stands for
   */
  record Item(
      long id,
      Instant at,
      String actor,
      String source,
      String action,
      String target,
      String reason,
      String details,
      int count) {
    static Item of(Row row) {
      var entry = row.entry();
      return new Item(
          row.id(),
          row.at(),
          entry.actor().name(),
          entry.actor().source(),
          entry.action(),
          entry.target(),
          entry.reason(),
          entry.details(),
          entry.count());
    }
  }

  /** A page of entries, newest first. */
  record Listing(List<Item> entries, Optional<String> nextCursor) {}

  private record Wish(Filter filter, Page.Request page) {
    static Wish read(Fields in) {
      var actor = in.optional("actor", Decode.text(MAX_TEXT));
      var action = in.optional("action", Decode.text(MAX_TEXT));
      var target = in.optional("target", Decode.text(MAX_TEXT));
      var from = in.optional("from", Decode.instant());
      var to = in.optional("to", Decode.instant());
      var page = Request.page(in);
      return new Wish(
          new Filter(actor.get(), action.get(), target.get(), from.get(), to.get()), page);
    }
  }

  private Response list(Request request) {
    var wish = request.query(Wish::read);
    var page = audit.read(wish.filter(), wish.page());
    return Response.ok(new Listing(page.items().stream().map(Item::of).toList(), page.next()));
  }
}
