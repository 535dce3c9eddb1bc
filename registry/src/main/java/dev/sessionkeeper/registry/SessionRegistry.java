package dev.sessionkeeper.registry;

import dev.sessionkeeper.Page;
import dev.sessionkeeper.jobs.Jobs;
import dev.sessionkeeper.store.Actor;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.store.Migrations;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import javax.sql.DataSource;

/**
 * Keeps one active session per user and capacity.
 *
 * <p>Only the database's clock decides when a session begins and ends, and only the partial unique
 * index which of two concurrent sessions begins. A session past its end is not active, even before
 * the sweep has ended it. Each change is in one transaction with its domain event.
 *
 * <p>Threads: any.
 */
public final class SessionRegistry {
  private final PutSession put;
  private final SessionTable table;
  private final SweepSessions sweep;
  private final Consumer<RegistryEvent> events;

  private SessionRegistry(Database database, RegistryOptions options) {
    this.put = new PutSession(database, options);
    this.table = new SessionTable(database, options.lifetime());
    this.sweep = new SweepSessions(database, options.listener());
    this.events = options.listener();
  }

  /** Migrates the tables, including those of jobs and of the event log. */
  public static void migrate(DataSource source) {
    Jobs.migrate(source);
    Migrations.apply(source, "registry");
  }

  public static SessionRegistry create(DataSource source, RegistryOptions options) {
    return new SessionRegistry(Database.of(source), options);
  }

  /**
   * Returns the active session of the user on the capacity, of at least this kind; creates or
   * upgrades it if needed.
   *
   * @throws IllegalArgumentException if there is no such kind
   */
  public PutOutcome put(SessionRequest request) {
    var outcome = put.put(request);
    switch (outcome) {
      case PutOutcome.Created created -> tell(new RegistryEvent.Created(created.session().kind()));
      case PutOutcome.Upgraded upgraded ->
          tell(new RegistryEvent.Upgraded(upgraded.session().kind()));
      case PutOutcome.Existing existing -> tell(new RegistryEvent.Found(existing.session().kind()));
      case PutOutcome.TenantMismatch tenantMismatch -> {}
    }
    return outcome;
  }

  public Optional<RegisteredSession> find(UUID sessionId) {
    return table.find(sessionId);
  }

  /** Returns sessions, the newest first. */
  public Page<RegisteredSession> list(SessionFilter filter, Page.Request page) {
    return table.list(filter, page);
  }

  /** Ends a session now. A session that has ended is not changed. Empty if there is none. */
  public Optional<RegisteredSession> end(UUID sessionId) {
    return ended(table.end(sessionId, Optional.empty()));
  }

  /** Ends a session as {@link #end(UUID)} does, and writes an audit row in the same transaction. */
  public Optional<RegisteredSession> end(UUID sessionId, Actor actor) {
    return ended(table.end(sessionId, Optional.of(actor)));
  }

  private Optional<RegisteredSession> ended(Optional<SessionTable.Change> change) {
    change
        .filter(SessionTable.Change::made)
        .ifPresent(made -> tell(new RegistryEvent.Ended(made.session().kind())));
    return change.map(SessionTable.Change::session);
  }

  /**
   * Extends an active session to a whole lifetime from now. A session that is not active is not
   * changed. Empty if there is none.
   */
  public Optional<RegisteredSession> renew(UUID sessionId) {
    var change = table.renew(sessionId);
    change
        .filter(SessionTable.Change::made)
        .ifPresent(made -> tell(new RegistryEvent.Renewed(made.session().kind())));
    return change.map(SessionTable.Change::session);
  }

  /** Returns how many sessions of each kind are active now. */
  public Map<Integer, Long> activeByKind() {
    return table.activeByKind();
  }

  /**
   * Ends expired sessions, in chunks. Only the time of their events depends on when this runs.
   *
   * @return how many
   */
  public int sweep() {
    return sweep.all();
  }

  private void tell(RegistryEvent event) {
    events.accept(event);
  }
}
