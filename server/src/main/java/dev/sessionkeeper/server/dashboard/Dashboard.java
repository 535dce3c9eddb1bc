package dev.sessionkeeper.server.dashboard;

import dev.sessionkeeper.server.http.CallApi;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.RouteTable;
import dev.sessionkeeper.server.security.AuditLog;
import dev.sessionkeeper.server.security.Guard;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** All pages of the dashboard. */
public final class Dashboard {
  private final List<Route> routes = new ArrayList<>();

  /**
   * The dependencies of the pages.
   *
   * @param isSecure whether browsers connect over TLS
   * @param jobLease how long a job's owner may be silent before another node takes the job
   * @param routes the route table of the whole server; read when a page is served
   */
  public record Parts(
      Guard guard,
      DashboardConfig config,
      boolean isSecure,
      AuditLog audit,
      Duration jobLease,
      TimeSource time,
      Supplier<RouteTable> routes) {}

  public Dashboard(Parts parts) {
    var api = new Api(new CallApi(parts.routes()));
    var guard = parts.guard();
    var assets = new Assets();
    var pages =
        new Pages(
            assets,
            guard.browsers(),
            guard::isClosed,
            new Menu(api),
            host -> origin(parts, host),
            parts.time());
    routes.add(assets.route(pages));
    routes.addAll(
        new LoginPages(pages, guard, parts.config(), parts.isSecure(), parts.audit(), parts.time())
            .routes());
    routes.addAll(new OverviewScreen(pages, api).routes());
    routes.addAll(new QueueScreen(pages, api).routes());
    routes.addAll(new SessionScreen(pages, api).routes());
    routes.addAll(new DeadLettersScreen(pages, api).routes());
    routes.addAll(new BulkScreen(pages, api).routes());
    routes.addAll(new EventsScreen(pages, api).routes());
    routes.addAll(new UsageScreen(pages, api).routes());
    routes.addAll(new JobsScreen(pages, api, parts.jobLease()).routes());
    routes.addAll(new SystemScreen(pages, api).routes());
  }

  private static String origin(Parts parts, String host) {
    return parts
        .config()
        .publicUrl()
        .map(String::valueOf)
        .orElse((parts.isSecure() ? "https://" : "http://") + host);
  }

  public List<Route> routes() {
    return List.copyOf(routes);
  }
}
