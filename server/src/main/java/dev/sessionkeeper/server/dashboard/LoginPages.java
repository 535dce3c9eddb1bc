package dev.sessionkeeper.server.dashboard;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.server.http.ProblemException;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.server.security.AuditLog;
import dev.sessionkeeper.server.security.BrowserSessions;
import dev.sessionkeeper.server.security.Guard;
import dev.sessionkeeper.store.Actor;
import dev.sessionkeeper.time.TimeSource;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Lets people log in with an API key or a token, and log out. Both are audited. */
final class LoginPages {
  static final String ACTION = "dashboard.login";
  private static final Logger log = LoggerFactory.getLogger(LoginPages.class);

  private final Pages pages;
  private final Guard guard;
  private final DashboardConfig config;
  private final boolean isSecure;
  private final AuditLog audit;
  private final Optional<ProviderLogin> provider;

  LoginPages(
      Pages pages,
      Guard guard,
      DashboardConfig config,
      boolean isSecure,
      AuditLog audit,
      TimeSource time) {
    this.pages = pages;
    this.guard = guard;
    this.config = config;
    this.isSecure = isSecure;
    this.audit = audit;
    this.provider =
        config
            .oidc()
            .map(
                client ->
                    new ProviderLogin(this, pages, guard, config, new AskProvider(client, time)));
  }

  List<Route> routes() {
    var routes = new ArrayList<Route>();
    provider.ifPresent(login -> routes.addAll(login.routes()));
    routes.addAll(ownRoutes());
    return routes;
  }

  private List<Route> ownRoutes() {
    return List.of(
        pages
            .get(Links.LOGIN, Role.ANYONE, Scope.open(), this::ask)
            .query("next", "The page to open then"),
        Route.post(Links.LOGIN, Role.ANYONE, Scope.open(), this::login)
            .takes(Forms.MEDIA_TYPE)
            .maxBody(64 << 10)
            .page(pages),
        Route.post("/ui/logout", Role.ANYONE, Scope.open(), this::logout)
            .takes(Forms.MEDIA_TYPE)
            .maxBody(64 << 10)
            .page(pages));
  }

  private Response ask(Request request) {
    var next = Links.local(request.query().getOrDefault("next", Links.OVERVIEW));
    if (!guard.isClosed()) {
      return Pages.redirect(next);
    }
    return form(request, 200, next, "");
  }

  /** Returns the login form, with the error of the last attempt. */
  Response form(Request request, int status, String next, String wrong) {
    var atProvider =
        provider.isEmpty()
            ? ""
            : guard.issuer().map(URI::create).map(URI::getHost).orElse("single sign-on");
    return pages.open(
        status,
        "login.jte",
        "Log in",
        request,
        Map.of(
            "next",
            next,
            "wrong",
            wrong,
            "provider",
            atProvider,
            "providerLink",
            ProviderLogin.link(next)));
  }

  private Response login(Request request) {
    var fields = Forms.parse(request);
    var next = Links.local(fields.getOrDefault("next", Links.OVERVIEW));
    try {
      var login = guard.login(fields.getOrDefault("key", "").strip());
      if (!guard.mayRead(login)) {
        return form(
            request,
            403,
            next,
            "This credential may not read, so no page opens for it. Use one with the role read,"
                + " operate or admin.");
      }
      note(
          request,
          login,
          "with " + (login instanceof BrowserSessions.Login.ByKey ? "a key" : "a token"));
      return withLogin(Pages.redirect(next), login);
    } catch (ProblemException e) {
      // The HTTP kernel counts refused requests in the audit log. A row for each attempt would let
      // anyone fill the log.
      return form(request, 401, next, "This key or token is not known, or has expired.");
    }
  }

  /** Adds the login cookie to a response. */
  Response withLogin(Response response, BrowserSessions.Login login) {
    var value = guard.browsers().cookie(login, name(), config.session());
    return response.header(
        "Set-Cookie", cookie(name(), value, config.session().toSeconds(), "Strict"));
  }

  private Response logout(Request request) {
    return Pages.redirect(Links.LOGIN).header("Set-Cookie", cookie(name(), "", 0, "Strict"));
  }

  private String name() {
    return isSecure ? BrowserSessions.SECURE_NAME : BrowserSessions.PLAIN_NAME;
  }

  /** Returns the name of the cookie that carries the state before the login. */
  String stateName() {
    return name() + "-login";
  }

  String cookie(String name, String value, long seconds, String sameSite) {
    return name
        + "="
        + value
        + "; Path=/; Max-Age="
        + seconds
        + "; HttpOnly; SameSite="
        + sameSite
        + (isSecure ? "; Secure" : "");
  }

  /**
   * A failed audit write must not fail the login: while the store is away, the dashboard is needed
   * most.
   */
  void note(Request request, BrowserSessions.Login login, String detail) {
    try {
      var actor = new Actor(guard.nameOf(login), request.actor().source());
      audit.record(AuditLog.Entry.of(actor, ACTION, "dashboard", detail));
    } catch (KeeperException e) {
      log.warn("A login has no audit entry: {}", e.getMessage());
    }
  }
}
