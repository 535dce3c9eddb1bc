package dev.sessionkeeper.server.dashboard;

import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** Shows whether anything is wrong, and the numbers of all queues. */
final class OverviewScreen {
  private static final int BUSIEST = 10;

  private final Pages pages;
  private final Api api;
  private final FindTrouble trouble;

  OverviewScreen(Pages pages, Api api) {
    this.pages = pages;
    this.api = api;
    this.trouble = new FindTrouble(api);
  }

  List<Route> routes() {
    return List.of(
        pages.get(Links.OVERVIEW, Role.READ, Scope.queues(), this::show),
        pages
            .get("/ui/live", Role.READ, Scope.queues(), this::live)
            .query("queue", "Only of this queue"),
        pages
            .get("/ui/samples", Role.READ, Scope.queues(), this::samples)
            .query("queue", "Only of this queue"));
  }

  private Response show(Request request) throws Exception {
    var queues = api.get(request, Map.of(), "samples", "queues");
    var top =
        queues.list("queues").stream()
            .sorted(Comparator.comparingLong(OverviewScreen::weight).reversed())
            .limit(BUSIEST)
            .toList();
    return pages.show(
        request,
        "overview.jte",
        new Pages.Head("Overview", "overview", "all"),
        Map.of(
            "samples",
            api.get(request, Map.of(), "samples"),
            "queues",
            queues,
            "troubles",
            trouble.find(request, queues.list("queues")),
            "top",
            top));
  }

  static long sum(List<Data> queues, String number) {
    return queues.stream().mapToLong(queue -> queue.number(number)).sum();
  }

  private static long weight(Data queue) {
    double rates =
        Double.parseDouble(queue.text("in", "0")) + Double.parseDouble(queue.text("out", "0"));
    return queue.number("depth") + (long) (rates * 10);
  }

  private Response live(Request request) throws Exception {
    return api.answer(request, request.query(), "samples", "live");
  }

  private Response samples(Request request) throws Exception {
    return api.answer(request, request.query(), "samples");
  }
}
