package dev.sessionkeeper.server.activity;

import dev.sessionkeeper.server.http.Caller;
import dev.sessionkeeper.server.http.Gate;

/** Records when each credential was last used, and delegates the decision to another gate. */
public record RememberCallers(Gate gate, LastSeen lastSeen) implements Gate {
  public static final String CREDENTIAL = "credential";

  @Override
  public Caller admit(Visit visit) {
    var caller = gate.admit(visit);
    if (!caller.equals(Caller.ANONYMOUS) && !caller.equals(Caller.LOCAL)) {
      lastSeen.seen(CREDENTIAL, caller.name());
    }
    return caller;
  }

  @Override
  public Caller admitAgain(Visit visit) {
    return gate.admitAgain(visit);
  }
}
