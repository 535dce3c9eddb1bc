package dev.sessionkeeper.server.usage;

import dev.sessionkeeper.Page;
import dev.sessionkeeper.registry.SessionRegistry;
import dev.sessionkeeper.registry.usage.Correction;
import dev.sessionkeeper.registry.usage.LedgerRow;
import dev.sessionkeeper.registry.usage.Usage;
import dev.sessionkeeper.registry.usage.UsageBatch;
import dev.sessionkeeper.registry.usage.UsageProof;
import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.server.http.Reason;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.server.http.TenantFilter;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;

/** Serves the ledger, its proof, its outbox and corrections. */
public final class UsageRoutes {
  private final Usage usage;
  private final SessionRegistry registry;

  public UsageRoutes(Usage usage, SessionRegistry registry) {
    this.usage = usage;
    this.registry = registry;
  }

  public List<Route> routes() {
    return List.of(
        Route.get("/usages", Role.READ, Scope.tenant(), this::ledger)
            .summary("The usage ledger, by tenant and time")
            .query("tenantObjectId", "Only of this tenant")
            .query("from", "Only records that end after this time")
            .query("to", "Only records that begin before this time")
            .query("limit", "Rows per page, 1 to 1000")
            .query("cursor", "nextCursor of the previous page")
            .answers(200, "A page", UsageItem.Listing.class)
            .problems(ProblemType.INVALID_CURSOR),
        Route.get("/usages/proof", Role.READ, Scope.tenant(), this::proof)
            .summary(
                "The proof of usage: sums of sessions, ledger, batches and acknowledgements, whose differences must be 0")
            .query("tenantObjectId", "Only of this tenant")
            .query("sums", "false: only whether metering is held, which is always fast")
            .answers(200, "The sums", ProofView.class),
        Route.get("/usages/batches", Role.READ, Scope.tenant(), this::batches)
            .summary("Usage batches, newest first")
            .query("tenantObjectId", "Only of this tenant")
            .query("state", "pending, acknowledged or dead")
            .query("limit", "Batches per page, 1 to 1000")
            .query("cursor", "nextCursor of the previous page")
            .answers(200, "A page", BatchItem.Listing.class)
            .problems(ProblemType.INVALID_CURSOR),
        Route.post("/usages/batches/{id}/replay", Role.OPERATE, Scope.tenant(), this::replay)
            .summary("Send a batch again, with the same bytes and the same key; audited")
            .header(Reason.HEADER, Reason.ABOUT)
            .answers(200, "The batch", BatchItem.class)
            .problems(ProblemType.NOT_FOUND),
        Route.post("/usages/corrections", Role.OPERATE, Scope.tenant(), this::correct)
            .summary("Bill a record at another factor, by a reversal and a new record; audited")
            .takes(CorrectionRequest.class)
            .answers(201, "The appended records", UsageItem.Corrected.class)
            .problems(ProblemType.NOT_FOUND, ProblemType.CONFLICT),
        Route.post(
                "/usages/hold/release", Role.OPERATE, Scope.server("Metering holds"), this::release)
            .summary("Continue metering after the database's clock jumped; audited")
            .header(Reason.HEADER, Reason.ABOUT)
            .answers(200, "Whether a hold was released", ProofView.Released.class));
  }

  private record LedgerWish(
      Optional<UUID> tenant, Optional<Instant> from, Optional<Instant> to, Page.Request page) {
    static LedgerWish read(Fields in) {
      var tenant = in.optional("tenantObjectId", Decode.guid());
      var from = in.optional("from", Decode.instant());
      var to = in.optional("to", Decode.instant());
      var page = Request.page(in);
      return new LedgerWish(tenant.get(), from.get(), to.get(), page);
    }
  }

  private Response ledger(Request request) {
    var wish = request.query(LedgerWish::read);
    var page =
        listed(
            request,
            wish.tenant(),
            tenant -> usage.ledger(tenant, wish.from(), wish.to(), wish.page()),
            new Page<LedgerRow>(List.of(), Optional.empty()));
    return Response.ok(
        new UsageItem.Listing(page.items().stream().map(UsageItem::of).toList(), page.next()));
  }

  private record ProofWish(Optional<UUID> tenant, boolean isSummed) {
    static ProofWish read(Fields in) {
      var tenant = in.optional("tenantObjectId", Decode.guid());
      var isSummed = in.optional("sums", true, Decode.oneOf(Map.of("true", true, "false", false)));
      in.check();
      return new ProofWish(tenant.get(), isSummed.get());
    }
  }

  private Response proof(Request request) {
    var wish = request.query(ProofWish::read);
    if (!wish.isSummed()) {
      request.reach();
      return Response.ok(new ProofView(List.of(), usage.hold().map(ProofView.Hold::of)));
    }
    request.extendDeadline(Request.MUCH_WORK);
    var tenants =
        listed(request, wish.tenant(), usage::proof, List.<UsageProof>of()).stream()
            .map(ProofView.Tenant::of)
            .toList();
    return Response.ok(new ProofView(tenants, usage.hold().map(ProofView.Hold::of)));
  }

  private record BatchWish(
      Optional<UUID> tenant, Optional<UsageBatch.State> state, Page.Request page) {
    static BatchWish read(Fields in) {
      var tenant = in.optional("tenantObjectId", Decode.guid());
      var state =
          in.optional(
              "state", Decode.oneOf(Decode.words(UsageBatch.State.class, UsageBatch.State::text)));
      var page = Request.page(in);
      return new BatchWish(tenant.get(), state.get(), page);
    }
  }

  private Response batches(Request request) {
    var wish = request.query(BatchWish::read);
    var page =
        listed(
            request,
            wish.tenant(),
            tenant -> usage.batches(tenant, wish.state(), wish.page()),
            new Page<UsageBatch>(List.of(), Optional.empty()));
    return Response.ok(
        new BatchItem.Listing(page.items().stream().map(BatchItem::of).toList(), page.next()));
  }

  private Response replay(Request request) {
    var id = guid(request.parameter("id"));
    var batch =
        id.flatMap(usage::batch)
            .filter(found -> request.reach().includes(found.tenantObjectId()))
            .orElseThrow(UsageRoutes::unknown);
    usage.replay(batch, request.actor());
    return Response.ok(BatchItem.of(usage.batch(batch.batchId()).orElse(batch)));
  }

  private Response correct(Request request) {
    var wish = request.json(CorrectionRequest::read);
    var session =
        registry
            .find(wish.session())
            .filter(found -> request.reach().includes(found.tenantObjectId()))
            .orElseThrow(UsageRoutes::unknown);
    var correction =
        usage.correct(
            session.sessionId(), wish.seq(), wish.factor(), request.actor(), wish.reason());
    return switch (correction) {
      case Correction.Applied applied ->
          Response.created(
              new UsageItem.Corrected(applied.rows().stream().map(UsageItem::of).toList()));
      case Correction.NotFound notFound -> throw unknown();
      case Correction.AlreadyCorrected corrected ->
          throw ProblemType.CONFLICT
              .with(
                  "Record "
                      + wish.recordId()
                      + " was corrected before; correct the record that stands in its place")
              .toException();
    };
  }

  private Response release(Request request) {
    return Response.ok(new ProofView.Released(usage.release(request.actor())));
  }

  /** Lists the rows within the caller's reach: of all tenants, of one, or none. */
  private static <T> T listed(
      Request request, Optional<UUID> asked, Function<Optional<UUID>, T> list, T nothing) {
    return switch (request.reach().tenants(asked)) {
      case TenantFilter.All all -> list.apply(Optional.empty());
      case TenantFilter.Only only -> list.apply(Optional.of(only.tenant()));
      case TenantFilter.None none -> nothing;
    };
  }

  private static Optional<UUID> guid(String text) {
    try {
      return Optional.of(Decode.parseGuid(text));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  private static RuntimeException unknown() {
    return ProblemType.NOT_FOUND.with("There is no such record or batch").toException();
  }
}
