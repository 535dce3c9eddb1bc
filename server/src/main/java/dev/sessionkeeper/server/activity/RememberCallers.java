package dev.sessionkeeper.server.activity;

import dev.sessionkeeper.server.http.Caller;
import dev.sessionkeeper.server.http.Gate;

/** Notes when each credential was used last; lets in whom the gate behind it lets in. */
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
