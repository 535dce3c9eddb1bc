package dev.sessionkeeper.server;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.server.config.ConfigChange;
import dev.sessionkeeper.server.config.ConfigSources;
import dev.sessionkeeper.server.config.InvalidConfig;
import dev.sessionkeeper.server.config.KeeperConfig;
import dev.sessionkeeper.server.http.Problem;
import dev.sessionkeeper.server.http.Reason;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.server.json.FieldError;
import dev.sessionkeeper.server.security.AuditLog;
import dev.sessionkeeper.store.Actor;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the configuration again. A valid one is applied as far as a running server can, and the
 * answer names the keys that need a restart. An invalid one changes nothing.
 */
final class Reload {
  private static final String ACTION = "config.reload";
  private static final String TARGET = "configuration";
  private static final Logger log = LoggerFactory.getLogger(Reload.class);

  private final Supplier<ConfigSources> sources;
  private final Target target;
  private final AuditLog audit;
  private KeeperConfig current;

  /** The parts of a server that a reload changes. */
  @FunctionalInterface
  interface Target {
    /**
     * Applies a configuration.
     *
     * @param changed the keys that differ and can be applied
     * @return remarks for the operator
     * @throws InvalidConfig if a feature cannot apply it; then nothing was changed
     */
    List<String> take(KeeperConfig next, Set<String> changed);
  }

  Reload(KeeperConfig current, Supplier<ConfigSources> sources, Target target, AuditLog audit) {
    this.current = current;
    this.sources = sources;
    this.target = target;
    this.audit = audit;
  }

  /**
   * The answer to a reload.
   *
   * @param applied the keys whose new values are in force
   * @param needsRestart the keys that differ from what is in force until the server is restarted
   */
  record Answer(
      boolean reloaded, List<String> applied, List<String> needsRestart, List<String> warnings) {}

  List<Route> routes() {
    return List.of(
        Route.post("/admin/reload", Role.ADMIN, Scope.server("Settings"), this::serve)
            .summary(
                "Read the configuration again and apply it; the answer names the keys that need a"
                    + " restart. An invalid configuration changes nothing")
            .header(Reason.HEADER, Reason.ABOUT)
            .answers(200, "Applied", Answer.class));
  }

  /**
   * Reads and applies the configuration, and writes an audit entry in either case.
   *
   * @throws InvalidConfig if the configuration is wrong; then nothing was changed
   */
  synchronized Answer reload(Actor actor) {
    try {
      return apply(actor);
    } catch (InvalidConfig e) {
      record(
          actor,
          "refused with " + e.errors().size() + " errors; nothing has changed",
          new ArrayList<>());
      throw e;
    }
  }

  private Answer apply(Actor actor) {
    var next = ReadConfig.from(sources.get());
    var changes = next.changesFrom(current);
    var applied = paths(changes, false);
    var needsRestart = paths(changes, true);
    var warnings = new ArrayList<>(next.warnings());
    warnings.addAll(target.take(next, Set.copyOf(applied)));
    current = next.takenOverFrom(current);
    var told = told(applied, needsRestart);
    log.info("The configuration was reloaded by {}. {}", actor.name(), told);
    record(actor, told, warnings);
    warnings.forEach(warning -> log.warn("Reload: {}", warning));
    return new Answer(true, applied, needsRestart, warnings);
  }

  private static List<String> paths(List<ConfigChange> changes, boolean needsRestart) {
    return changes.stream()
        .filter(change -> change.needsRestart() == needsRestart)
        .map(ConfigChange::path)
        .toList();
  }

  private static String told(List<String> applied, List<String> needsRestart) {
    var told =
        applied.isEmpty() ? "Nothing was applied." : "Applied: " + String.join(", ", applied) + ".";
    return needsRestart.isEmpty()
        ? told
        : told + " Needs a restart: " + String.join(", ", needsRestart) + ".";
  }

  /**
   * A failed audit entry does not stop the reload, because a revocation must take effect even while
   * the store is unreachable.
   */
  private void record(Actor actor, String told, List<String> warnings) {
    try {
      audit.record(AuditLog.Entry.of(actor, ACTION, TARGET, told));
    } catch (KeeperException e) {
      log.error("The audit log has no entry of the reload by {}: {}", actor.name(), e.getMessage());
      warnings.add("The audit log has no entry of this reload: " + e.getMessage());
    }
  }

  private Response serve(Request request) {
    try {
      return Response.ok(reload(request.actor()));
    } catch (InvalidConfig e) {
      throw Problem.invalid(
              e.errors().stream()
                  .map(error -> new FieldError(error.key(), error.where() + " " + error.reason()))
                  .toList())
          .toException();
    }
  }
}
