package dev.sessionkeeper.server.operations;

import dev.sessionkeeper.server.Engine;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.spi.InspectableQueues;
import java.util.List;

/** A plain page about the server: readable in any browser, without scripts, without other hosts. */
public final class StatusPage {
  private static final int MOST_QUEUES = 200;
  private static final String POLICY =
      "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none';"
          + " frame-ancestors 'none'";

  private final Engine engine;
  private final String version;

  public StatusPage(Engine engine, String version) {
    this.engine = engine;
    this.version = version;
  }

  public List<Route> routes() {
    return List.of(
        Route.get("/", Role.READ, Scope.queues(), this::show)
            .summary("A page for people")
            .answers(200, "HTML", "text/html"));
  }

  private Response show(Request request) {
    var reach = request.reach();
    var rows = new StringBuilder();
    var provider = engine.queues();
    provider.queues().stream()
        .filter(reach::includes)
        .limit(MOST_QUEUES)
        .forEach(
            queue -> {
              rows.append("<tr><td>").append(escape(queue.value())).append("<td>");
              provider.settings(queue).ifPresent(settings -> rows.append(settings.mode()));
              if (provider instanceof InspectableQueues inspectable) {
                var stats = inspectable.stats(queue);
                number(rows, stats.depth());
                number(rows, stats.readySessions());
                number(rows, stats.heldSessions());
                number(rows, stats.deadLetters());
              }
              rows.append("</tr>\n");
            });
    if (rows.isEmpty()) {
      rows.append("<tr><td colspan=\"6\">None yet. Try <code>./keeper demo</code></tr>\n");
    }
    return Response.text(
            200, "text/html; charset=utf-8", page(rows.toString(), reach.isEverything()))
        .header("Content-Security-Policy", POLICY)
        .header("Referrer-Policy", "no-referrer");
  }

  /**
   * The page.
   *
   * @param whole whether the reader may know where the data is
   */
  private String page(String rows, boolean whole) {
    return """
      <!doctype html>
      <html lang="en"><head><meta charset="utf-8"><title>Sessionkeeper</title>
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <style>
      :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
      body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
      table { border-collapse: collapse; width: 100%% }
      th, td { text-align: left; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid #8885 }
      td.n, th.n { text-align: right; font-variant-numeric: tabular-nums }
      code { background: #8882; padding: .1rem .3rem }
      </style></head><body>
      <h1>Sessionkeeper</h1>
      <p>Version %s%s.</p>
      <table><caption>Queues</caption>
      <tr><th>queue<th>mode<th class="n">depth<th class="n">ready<th class="n">held<th class="n">dead letters</tr>
      %s</table>
      <p><a href="/queues">queues</a> · <a href="/metrics">metrics</a> ·
      <a href="/health/ready">health</a> · <a href="/openapi.json">API description</a></p>
      </body></html>
      """
        .formatted(escape(version), whole ? ", " + escape(engine.description()) : "", rows);
  }

  private static void number(StringBuilder rows, long number) {
    rows.append("<td class=\"n\">").append(number);
  }

  private static String escape(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("\"", "&quot;");
  }
}
