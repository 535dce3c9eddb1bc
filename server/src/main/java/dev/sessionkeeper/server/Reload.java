package dev.sessionkeeper.server;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.server.config.ConfigError;
import dev.sessionkeeper.server.config.ConfigSection;
import dev.sessionkeeper.server.config.ConfigSources;
import dev.sessionkeeper.server.config.InvalidConfig;
import dev.sessionkeeper.server.config.KeeperConfig;
import dev.sessionkeeper.server.config.QueuesConfig;
import dev.sessionkeeper.server.config.ServerConfig;
import dev.sessionkeeper.server.config.StoreConfig;
import dev.sessionkeeper.server.http.Problem;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.server.json.FieldError;
import dev.sessionkeeper.server.security.AuditLog;
import dev.sessionkeeper.server.telemetry.TelemetryConfig;
import dev.sessionkeeper.store.Actor;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads the configuration again: all of it is taken over, or nothing. */
final class Reload {
  private static final String ACTION = "config.reload";
  private static final String TARGET = "configuration";
  private static final Logger log = LoggerFactory.getLogger(Reload.class);

  /** What was built from these at the start cannot be exchanged under the running requests. */
  private static final List<ConfigSection<?>> FIXED =
      List.of(
          ServerConfig.SECTION, StoreConfig.SECTION, QueuesConfig.SECTION, TelemetryConfig.SECTION);

  private final Supplier<ConfigSources> sources;
  private final Function<KeeperConfig, List<ConfigError>> objections;
  private final Consumer<KeeperConfig> apply;
  private final AuditLog audit;
  private KeeperConfig current;

  /**
   * Prepares.
   *
   * @param objections what the parts of the server say against a configuration
   * @param apply takes it over; must not fail
   */
  Reload(
      KeeperConfig current,
      Supplier<ConfigSources> sources,
      Function<KeeperConfig, List<ConfigError>> objections,
      Consumer<KeeperConfig> apply,
      AuditLog audit) {
    this.audit = audit;
    this.current = current;
    this.sources = sources;
    this.objections = objections;
    this.apply = apply;
  }

  /** The answer to a reload. */
  record Answer(boolean reloaded, List<String> warnings) {}

  List<Route> routes() {
    return List.of(
        Route.post("/admin/reload", Role.ADMIN, Scope.server("Settings"), this::serve)
            .summary("Read the configuration again; refused as a whole when it is not valid")
            .answers(200, "Taken over", Answer.class));
  }

  /**
   * Reads and takes over; an audit row tells of it either way.
   *
   * @throws InvalidConfig if it is wrong, or differs where only a restart helps; then nothing was
   *     changed
   */
  synchronized KeeperConfig reload(Actor actor) {
    try {
      var next = takeOver();
      record(actor, "taken over");
      return next;
    } catch (InvalidConfig e) {
      record(actor, "refused with " + e.errors().size() + " errors; nothing has changed");
      throw e;
    }
  }

  /** A key must be revocable while the store is away, so a reload does not wait for its row. */
  private void record(Actor actor, String result) {
    try {
      audit.record(AuditLog.Entry.of(actor, ACTION, TARGET, result));
    } catch (KeeperException e) {
      log.warn("The reload by {} ({}) has no audit row: {}", actor, result, e.getMessage());
    }
  }

  private KeeperConfig takeOver() {
    var next = KeeperConfig.read(sources.get());
    var errors = new ArrayList<ConfigError>();
    for (var section : FIXED) {
      if (!next.get(section).toString().equals(current.get(section).toString())) {
        errors.add(
            new ConfigError(section.key(), section.key(), "has changed; that takes a restart"));
      }
    }
    if (errors.isEmpty()) {
      errors.addAll(objections.apply(next));
    }
    if (!errors.isEmpty()) {
      throw new InvalidConfig(errors);
    }
    apply.accept(next);
    current = next;
    log.info("The configuration was read again and taken over");
    return next;
  }

  private Response serve(Request request) {
    try {
      return Response.ok(new Answer(true, reload(request.actor()).warnings()));
    } catch (InvalidConfig e) {
      throw Problem.invalid(
              e.errors().stream()
                  .map(error -> new FieldError(error.key(), error.where() + " " + error.reason()))
                  .toList())
          .toException();
    }
  }
}
