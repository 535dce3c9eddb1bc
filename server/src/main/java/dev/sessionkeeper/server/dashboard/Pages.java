package dev.sessionkeeper.server.dashboard;

import dev.sessionkeeper.server.http.Gate;
import dev.sessionkeeper.server.http.Handler;
import dev.sessionkeeper.server.http.Problem;
import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.server.http.RefusalPage;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.server.security.BrowserSessions;
import dev.sessionkeeper.time.TimeSource;
import gg.jte.ContentType;
import gg.jte.TemplateEngine;
import gg.jte.output.StringOutput;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;

/** Renders pages, their refusals and their redirections, all under one strict policy. */
final class Pages implements RefusalPage {
  /**
   * Allows scripts, styles, images and requests of this server only, and no frame around its pages.
   */
  static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
          + " form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

  private static final String HTML = "text/html; charset=utf-8";
  private static final int TAG_BYTES = 16;
  private static final String TOLD = "keeper-told";
  private static final Duration TOLD_FOR = Duration.ofSeconds(30);

  private final TemplateEngine engine =
      TemplateEngine.createPrecompiled(
          null, ContentType.Html, Pages.class.getClassLoader(), Pages.class.getPackageName());
  private final Assets assets;
  private final BrowserSessions browsers;
  private final BooleanSupplier isClosed;
  private final Menu menu;
  private final UnaryOperator<String> origin;
  private final TimeSource time;

  /**
   * Creates the renderer.
   *
   * @param origin tells the address of this server for a Host header
   */
  Pages(
      Assets assets,
      BrowserSessions browsers,
      BooleanSupplier isClosed,
      Menu menu,
      UnaryOperator<String> origin,
      TimeSource time) {
    this.assets = assets;
    this.browsers = browsers;
    this.isClosed = isClosed;
    this.menu = menu;
    this.origin = origin;
    this.time = time;
    engine.setTrimControlStructures(true);
  }

  Instant now() {
    return time.instant();
  }

  /** Returns a route that shows a page. */
  Route get(String path, Role role, Scope scope, Handler handler) {
    return Route.get(path, role, scope, handler).page(this);
  }

  /** Returns a route that handles a submitted form. */
  Route form(String path, Role role, Scope scope, Form form) {
    return Route.post(
            path, role, scope, request -> form.act(request, Forms.read(request, browsers)))
        .takes(Forms.MEDIA_TYPE)
        .maxBody(4L << 20)
        .page(this);
  }

  /** Handles a submitted form. */
  @FunctionalInterface
  interface Form {
    Response act(Request request, Map<String, String> fields) throws Exception;
  }

  /**
   * The head of a page.
   *
   * @param section the key of its menu entry
   * @param live the kinds of change that refresh the page, as in {@link Shell}
   * @param seconds how often the page is refreshed while it is visible
   */
  record Head(String title, String section, String live, int seconds) {
    Head(String title, String section, String live) {
      this(title, section, live, SECONDS.getOrDefault(section, 2));
    }
  }

  /**
   * Sections that change slowly are refreshed less often; all others every two seconds. Pages of
   * queues are told when a number has changed, and are refreshed then.
   */
  private static final Map<String, Integer> SECONDS =
      Map.of(
          "overview",
          10,
          "queues",
          10,
          "events",
          5,
          "registry",
          5,
          "usage",
          10,
          "access",
          30,
          "system",
          5);

  Response show(Request request, String template, Head head, Map<String, ?> model) {
    var cookies = request.header("Cookie");
    var name = request.actor().name();
    var told = cookie(cookies, TOLD).flatMap(words -> browsers.unseal(words, TOLD));
    request.reach();
    var shell =
        new Shell(
            head.title(),
            head.section(),
            head.live(),
            head.seconds(),
            request.target(),
            origin.apply(request.header("Host")),
            new Shell.Reader(
                name,
                isClosed.getAsBoolean(),
                request.may(Role.OPERATE),
                request.may(Role.ADMIN),
                browsers.formToken(cookies, name)),
            theme(cookies),
            told.map(Pages::told),
            menu.entries(request::may),
            assets,
            time.instant());
    var text = text(template, shell, model);
    var response = html(200, text);
    if (!request.header("HX-Request").isEmpty()) {
      return unlessUnchanged(response, text, request.header("If-None-Match"));
    }
    return told.isPresent()
        ? response.header("Set-Cookie", TOLD + "=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict")
        : response;
  }

  /** Answers a refresh with 304 if the page has not changed. */
  private static Response unlessUnchanged(Response page, String text, String known) {
    var tag = '"' + digest(text) + '"';
    return tag.equals(known) ? html(304, "").header("ETag", tag) : page.header("ETag", tag);
  }

  private static String digest(String text) {
    try {
      var whole =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(whole, 0, TAG_BYTES);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // Every Java runtime has SHA-256.
    }
  }

  /** Redirects the browser, with a message that the next page shows. */
  Response tell(String link, String text, String auditLink) {
    var words = browsers.seal(auditLink + "\n" + text, TOLD_FOR, TOLD);
    return redirect(link)
        .header(
            "Set-Cookie", TOLD + "=" + words + "; Path=/; Max-Age=30; HttpOnly; SameSite=Strict");
  }

  static Response redirect(String link) {
    return Response.text(303, HTML, "").header("Location", link);
  }

  /** Returns a page that needs no login. */
  Response open(int status, String template, String title, Gate.Visit visit, Map<String, ?> model) {
    return html(status, template, anonymous(title, visit.header("Cookie")), model);
  }

  Response open(int status, String template, String title, Request visit, Map<String, ?> model) {
    return html(status, template, anonymous(title, visit.header("Cookie")), model);
  }

  @Override
  public Response render(Problem problem, Gate.Visit visit, String target, String correlationId) {
    boolean isRead = visit.route().method().equals("GET");
    if (problem.type() == ProblemType.UNAUTHENTICATED) {
      return redirect(Links.login(isRead ? target : Links.OVERVIEW));
    }
    if (isRead && isFromElsewhere(visit)) {
      // Browsers send no strict cookie when they follow a link from another site; a page that
      // reloads itself gets it.
      return open(200, "bounce.jte", "Sessionkeeper", visit, Map.of("link", Links.local(target)));
    }
    var back = isRead ? Links.local(target) : Links.local(path(visit.header("Referer")));
    var response =
        html(
            problem.type().status(),
            "problem.jte",
            shell(problem.type().title(), visit.header("Cookie"), menu.entries(role -> true)),
            Map.of("problem", problem, "correlationId", correlationId, "back", back));
    for (var header : problem.headers().entrySet()) {
      response = response.header(header.getKey(), header.getValue());
    }
    return response;
  }

  private static boolean isFromElsewhere(Gate.Visit visit) {
    return visit.header("Sec-Fetch-Site").endsWith("-site")
        && visit.header("Sec-Fetch-Dest").equals("document");
  }

  private static String path(String address) {
    int path = address.indexOf('/', address.indexOf("://") + 3);
    return path < 0 ? Links.OVERVIEW : address.substring(path);
  }

  private Shell anonymous(String title, String cookies) {
    return shell(title, cookies, List.of());
  }

  private Shell shell(String title, String cookies, List<Shell.Entry> entries) {
    return new Shell(
        title,
        "",
        "",
        0,
        "",
        "",
        new Shell.Reader("", false, false, false, ""),
        theme(cookies),
        Optional.empty(),
        entries,
        assets,
        time.instant());
  }

  private Response html(int status, String template, Shell shell, Map<String, ?> model) {
    return html(status, text(template, shell, model));
  }

  private String text(String template, Shell shell, Map<String, ?> model) {
    var all = new java.util.HashMap<String, Object>(model);
    all.put("shell", shell);
    var out = new StringOutput(16_384);
    engine.render(template, all, out);
    return out.toString();
  }

  private static Response html(int status, String text) {
    return Response.text(status, HTML, text)
        .header("Content-Security-Policy", POLICY)
        .header("Referrer-Policy", "same-origin")
        .header("X-Frame-Options", "DENY");
  }

  private static Shell.Told told(String text) {
    var parts = text.split("\n", 2);
    return new Shell.Told(parts[1], parts[0]);
  }

  private static String theme(String cookies) {
    return cookie(cookies, "keeper-theme")
        .filter(theme -> theme.equals("light") || theme.equals("dark"))
        .orElse("");
  }

  static Optional<String> cookie(String header, String name) {
    return Arrays.stream(header.split(";", -1))
        .map(String::strip)
        .filter(pair -> pair.startsWith(name + "="))
        .map(pair -> pair.substring(name.length() + 1))
        .findFirst();
  }
}
