package dev.sessionkeeper.server.retention;

import dev.sessionkeeper.jobs.Jobs;
import dev.sessionkeeper.server.config.KeeperConfig;
import dev.sessionkeeper.server.feature.Feature;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.server.jobs.JobsConfig;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import dev.sessionkeeper.server.security.SealAudit;
import dev.sessionkeeper.server.security.SecurityConfig;
import dev.sessionkeeper.store.Database;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Seals the audit log, deletes old history, and erases users on request. */
public final class RetentionFeature implements Feature {
  private final Database database;
  private volatile KeeperConfig config;

  private RetentionFeature(Context context, Database database) {
    this.database = database;
    this.config = context.config();
  }

  /** Opens the feature; without a database no data outlives the process. */
  public static Optional<Feature> open(Context context) {
    return context
        .engine()
        .database()
        .map(source -> new RetentionFeature(context, Database.of(source)));
  }

  @Override
  public List<Route> routes() {
    return List.of(
        Route.post("/erasures", Role.ADMIN, Scope.server("Erasures"), this::erase)
            .summary(
                "Erase a user: end active sessions and replace the id in sessions, ledger and"
                    + " events by a random one; audited")
            .takes(Wish.class)
            .answers(201, "The result of the erasure", EraseUser.Erased.class));
  }

  /** The user to erase, and the reason. */
  record Wish(UUID userObjectId, String reason) {
    static Wish read(Fields in) {
      var user = in.required("userObjectId", Decode.guid());
      var reason = in.optional("reason", "", Decode.text(1_000));
      in.check();
      return new Wish(user.get(), reason.get());
    }
  }

  private Response erase(Request request) {
    var wish = request.json(Wish::read);
    return Response.created(
        new EraseUser(database).erase(wish.userObjectId(), wish.reason(), request.actor()));
  }

  @Override
  public void schedule(Jobs jobs) {
    new SealAudit(database, () -> config.get(SecurityConfig.SECTION).auditRetention())
        .schedule(jobs);
    new ForgetHistory(database, () -> config.get(JobsConfig.SECTION)).schedule(jobs);
  }

  @Override
  public Optional<String> notReady() {
    return Optional.empty();
  }

  @Override
  public void reconfigure(KeeperConfig next) {
    config = next;
  }

  @Override
  public void close() {
    // The jobs feature closes the jobs.
  }
}
