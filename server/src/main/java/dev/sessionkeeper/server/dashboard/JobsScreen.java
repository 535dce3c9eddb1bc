package dev.sessionkeeper.server.dashboard;

import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Shows jobs: their owner, schedule and runs. */
final class JobsScreen {
  private static final Scope SCOPE = Scope.server("Jobs");

  private final Pages pages;
  private final Api api;
  private final Duration lease;

  JobsScreen(Pages pages, Api api, Duration lease) {
    this.pages = pages;
    this.lease = lease;
    this.api = api;
  }

  List<Route> routes() {
    return List.of(
        pages.get("/ui/jobs", Role.READ, SCOPE, this::list),
        pages.get("/ui/jobs/{name}", Role.READ, SCOPE, this::show),
        pages.form("/ui/jobs/{name}", Role.OPERATE, SCOPE, this::act));
  }

  private Response list(Request request) throws Exception {
    return pages.show(
        request,
        "jobs.jte",
        new Pages.Head("Jobs", "jobs", "all"),
        Map.of("data", api.get(request, Map.of("history", "100"), "jobs"), "lease", lease));
  }

  private Response show(Request request) throws Exception {
    var name = request.parameter("name");
    return pages.show(
        request,
        "job.jte",
        new Pages.Head(name, "jobs", "all"),
        Map.of("job", api.get(request, Map.of(), "jobs", name)));
  }

  private Response act(Request request, Map<String, String> fields) throws Exception {
    var name = request.parameter("name");
    var act = fields.getOrDefault("act", "");
    api.post(request.because(SessionScreen.reason(fields)), Map.of(), "jobs", name, act);
    var told =
        switch (act) {
          case "run" -> name + " runs at the next look of any node.";
          case "pause" -> name + " is paused.";
          default -> name + " goes on with its schedule.";
        };
    return pages.tell(Links.job(name), told, Links.audit(name));
  }

  /** Describes the runs in words, for readers who cannot see the chart. */
  static String describe(List<Data> runs) {
    long failed =
        runs.stream()
            .filter(run -> !List.of("completed", "running").contains(run.text("outcome")))
            .count();
    return Show.plural(runs.size(), "run", "runs") + ", " + failed + " without success";
  }

  /** Returns the remaining part of the lease, from 0 to 1. */
  static String leaseLeft(Data job, Duration lease, Instant now) {
    var until = job.time("leaseUntil").orElse(now);
    double left = (double) Duration.between(now, until).toMillis() / lease.toMillis();
    return String.format(Locale.ROOT, "%.2f", Math.clamp(left, 0.0, 1.0));
  }

  /** Says what follows when runs were missed, for example while no server ran. */
  static String misfire(String misfire) {
    return switch (misfire) {
      case "coalesce" -> "one run for all of them";
      case "skip" -> "skipped";
      default -> "each is made up for";
    };
  }

  static String took(Data run) {
    return run.has("endedAt")
        ? Show.duration(
            Duration.between(
                run.time("startedAt").orElseThrow(), run.time("endedAt").orElseThrow()))
        : "runs";
  }
}
