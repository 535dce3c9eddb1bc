package dev.sessionkeeper.server.jobs;

import dev.sessionkeeper.jobs.Jobs;
import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.server.http.Reason;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.store.Actor;
import java.util.List;
import java.util.function.BiPredicate;

/** Lists jobs, runs them now, and pauses them. */
public final class JobRoutes {
  private static final Scope SCOPE = Scope.server("Jobs");
  private static final int SHORT_HISTORY = 5;
  private static final int LONG_HISTORY = 100;

  private final Jobs jobs;

  public JobRoutes(Jobs jobs) {
    this.jobs = jobs;
  }

  public List<Route> routes() {
    return List.of(
        Route.get("/jobs", Role.READ, SCOPE, this::list)
            .summary("All jobs with owner, epoch, lease, next run and last runs")
            .query("history", "Runs of each job, 1 to 100; the default is 5")
            .answers(200, "The jobs", JobItem.Listing.class),
        Route.get("/jobs/{name}", Role.READ, SCOPE, this::show)
            .summary("One job with its last hundred runs")
            .answers(200, "The job", JobItem.class)
            .problems(ProblemType.NOT_FOUND),
        act("run", "Runs a job at the next look of any node; audited", jobs::requestRun),
        act("pause", "Stops the schedule of a job; audited", jobs::pause),
        act("resume", "Goes on with the schedule of a job; audited", jobs::resume));
  }

  private Route act(String name, String summary, BiPredicate<String, Actor> act) {
    return Route.post(
            "/jobs/{name}/" + name,
            Role.OPERATE,
            SCOPE,
            request -> {
              var job = request.parameter("name");
              if (!act.test(job, request.actor())) {
                throw unknown(job);
              }
              return show(request);
            })
        .summary(summary)
        .header(Reason.HEADER, Reason.ABOUT)
        .answers(200, "The job", JobItem.class)
        .problems(ProblemType.NOT_FOUND);
  }

  private Response list(Request request) {
    int history =
        request.query(
            in -> {
              var wish = in.optional("history", SHORT_HISTORY, Decode.integer(1, LONG_HISTORY));
              in.check();
              return wish.get();
            });
    var items =
        jobs.views().stream()
            .map(view -> JobItem.of(view, jobs.history(view.name(), history)))
            .toList();
    return Response.ok(new JobItem.Listing(items));
  }

  private Response show(Request request) {
    var name = request.parameter("name");
    var view = jobs.view(name).orElseThrow(() -> unknown(name));
    return Response.ok(JobItem.of(view, jobs.history(name, LONG_HISTORY)));
  }

  private static RuntimeException unknown(String job) {
    return ProblemType.NOT_FOUND.with("There is no job " + job).toException();
  }
}
