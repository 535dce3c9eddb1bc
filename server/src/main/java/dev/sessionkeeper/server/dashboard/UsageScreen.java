package dev.sessionkeeper.server.dashboard;

import static java.time.temporal.ChronoUnit.SECONDS;

import dev.sessionkeeper.server.http.Problem;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.server.json.RawJson;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Shows registered sessions and their usage: the proof and the batches. */
final class UsageScreen {
  private static final List<String> FILTERS =
      List.of("tenantObjectId", "userObjectId", "capacityId", "active");

  /** How far back the list of usage records begins without a filter. */
  private static final Duration LEDGER = Duration.ofHours(1);

  private final Pages pages;
  private final Api api;

  UsageScreen(Pages pages, Api api) {
    this.pages = pages;
    this.api = api;
  }

  List<Route> routes() {
    var registry = pages.get("/ui/registry", Role.READ, Scope.tenant(), this::registry);
    for (var filter : FILTERS) {
      registry = registry.query(filter, "Only with this");
    }
    return List.of(
        registry.query("cursor", "The next page"),
        pages.form("/ui/registry", Role.SEND, Scope.tenant(), this::act),
        pages
            .get("/ui/usage", Role.READ, Scope.tenant(), this::usage)
            .query("proof", "Whether to prove it now")
            .query("state", "The state of batches")
            .query("cursor", "The next page"),
        pages
            .get("/ui/usage/ledger", Role.READ, Scope.tenant(), this::ledger)
            .query("tenantObjectId", "Only of this tenant")
            .query("from", "Only records that end after this time")
            .query("cursor", "The next page"),
        pages.form("/ui/usage/ledger", Role.OPERATE, Scope.tenant(), this::correct),
        pages.form("/ui/usage/replay", Role.OPERATE, Scope.tenant(), this::replay),
        pages.form(
            "/ui/usage/release", Role.OPERATE, Scope.server("Metering holds"), this::release));
  }

  private Response registry(Request request) throws Exception {
    var filter = new LinkedHashMap<String, String>();
    FILTERS.forEach(name -> filter.put(name, request.query().getOrDefault(name, "").strip()));
    var cursor = request.query().getOrDefault("cursor", "");
    var query = new LinkedHashMap<>(Api.query("limit", "50", "cursor", cursor));
    filter.forEach((name, value) -> query.putAll(Api.query(name, value)));
    var samples = api.find(request, Map.of(), "samples", "sessions");
    return pages.show(
        request,
        "registry.jte",
        new Pages.Head("Registry", "registry", "all"),
        Map.of(
            "data", api.get(request, query, "sessions"),
            "filter", filter,
            "isFirst", cursor.isEmpty(),
            "kinds", samples.flatMap(Chart::kinds),
            "names", kindNames(samples),
            "maySend", request.may(Role.SEND)));
  }

  /** Returns the name of each kind of session by its number. */
  private static Map<String, String> kindNames(Optional<Data> samples) {
    return samples.stream()
        .flatMap(counted -> counted.list("kinds").stream())
        .collect(Collectors.toMap(kind -> kind.text("kind"), kind -> kind.text("name")));
  }

  private Response act(Request request, Map<String, String> fields) throws Exception {
    var id = fields.getOrDefault("id", "");
    boolean isEnd = fields.getOrDefault("act", "").equals("end");
    var because = request.because(SessionScreen.reason(fields));
    if (isEnd) {
      api.send(because, "DELETE", Map.of(), "sessions", id);
    } else {
      api.post(because, Map.of(), "sessions", id, "renew");
    }
    return pages.tell(
        "/ui/registry",
        isEnd ? "The session has ended." : "The session lives on.",
        isEnd ? Links.audit(id) : "");
  }

  private Response usage(Request request) throws Exception {
    boolean isProven = request.query().containsKey("proof");
    var state = request.query().getOrDefault("state", "");
    var cursor = request.query().getOrDefault("cursor", "");
    return pages.show(
        request,
        "usage.jte",
        new Pages.Head("Usage", "usage", isProven ? "" : "all"),
        Map.of(
            "proof",
            isProven ? api.get(request, Map.of(), "usages", "proof") : Data.NOTHING,
            "isProven",
            isProven,
            "batches",
            api.get(
                request,
                Api.query("state", state, "limit", "50", "cursor", cursor),
                "usages",
                "batches"),
            "state",
            state,
            "isFirst",
            cursor.isEmpty()));
  }

  private Response ledger(Request request) throws Exception {
    var tenant = request.query().getOrDefault("tenantObjectId", "").strip();
    var from = request.query().getOrDefault("from", "").strip();
    var cursor = request.query().getOrDefault("cursor", "");
    var since = from.isEmpty() ? pages.now().minus(LEDGER).truncatedTo(SECONDS).toString() : from;
    return pages.show(
        request,
        "ledger.jte",
        new Pages.Head("Ledger", "usage", ""),
        Map.of(
            "usages",
            api.get(
                request,
                Api.query("tenantObjectId", tenant, "from", since, "limit", "50", "cursor", cursor),
                "usages"),
            "tenant",
            tenant,
            "from",
            since,
            "names",
            kindNames(api.find(request, Map.of(), "samples", "sessions")),
            "isFirst",
            cursor.isEmpty()));
  }

  private Response correct(Request request, Map<String, String> fields) throws Exception {
    SessionScreen.requireReason(fields);
    var id = fields.getOrDefault("id", "");
    var factor = fields.getOrDefault("factor", "").strip();
    if (!factor.matches("[0-9]{1,7}(\\.[0-9]{1,3})?")) {
      throw Problem.invalid("factor", "must be a number such as 1.5").toException();
    }
    api.post(
        request,
        Map.of("recordId", id, "factor", new RawJson(factor), "reason", fields.get("reason")),
        "usages",
        "corrections");
    return pages.tell("/ui/usage/ledger", "The record " + id + " is corrected.", Links.audit(id));
  }

  private Response replay(Request request, Map<String, String> fields) throws Exception {
    var id = fields.getOrDefault("id", "");
    api.post(
        request.because(SessionScreen.reason(fields)), Map.of(), "usages", "batches", id, "replay");
    return pages.tell("/ui/usage", "The batch is sent again.", Links.audit(id));
  }

  private Response release(Request request, Map<String, String> fields) throws Exception {
    var done =
        api.post(
            request.because(SessionScreen.reason(fields)), Map.of(), "usages", "hold", "release");
    return pages.tell(
        "/ui/usage?proof=1",
        done.isTrue("released") ? "Metering goes on." : "There was no hold.",
        "");
  }

  /**
   * Returns a short name of a usage record: the end of its session id, which differs between
   * sessions, and its number.
   */
  static String shortRecord(String id) {
    return id.length() > 37 ? "…" + id.substring(28) : id;
  }

  /** A sum of the proof as a bar. The first sum has the full length. */
  record Bar(String name, String amount, String share) {}

  /**
   * Returns the sums of the proof. Each is computed from another table; with pending usage added,
   * all are equal.
   */
  static List<Bar> bars(Data tenant) {
    var whole = amount(tenant, "activeMicros");
    var toCome =
        amount(tenant, "pendingMetering")
            .add(amount(tenant, "forgotten"))
            .subtract(amount(tenant, "corrections"));
    var sent =
        amount(tenant, "acknowledged").add(amount(tenant, "pending")).add(amount(tenant, "dead"));
    return List.of(
        bar("Sessions: time of use", whole, whole),
        bar("Ledger + not yet metered", amount(tenant, "ledger").add(toCome), whole),
        bar("Batches + not yet metered", amount(tenant, "batches").add(toCome), whole),
        bar("Deliveries + not yet metered", sent.add(toCome), whole));
  }

  private static Bar bar(String name, BigDecimal amount, BigDecimal whole) {
    var share =
        whole.signum() == 0
            ? BigDecimal.ONE
            : amount
                .divide(whole, 4, RoundingMode.HALF_UP)
                .max(BigDecimal.ZERO)
                .min(BigDecimal.ONE);
    return new Bar(name, amount.stripTrailingZeros().toPlainString(), share.toPlainString());
  }

  static boolean isEqual(Data tenant) {
    return new BigDecimal(difference(tenant)).signum() == 0;
  }

  /** Returns the largest difference of the proof. */
  static String difference(Data tenant) {
    var differences = tenant.at("differences");
    return List.of("ledger", "batches", "acknowledged").stream()
        .map(name -> amount(differences, name).abs())
        .max(BigDecimal::compareTo)
        .orElse(BigDecimal.ZERO)
        .stripTrailingZeros()
        .toPlainString();
  }

  private static BigDecimal amount(Data data, String name) {
    return new BigDecimal(data.text(name, "0"));
  }
}
