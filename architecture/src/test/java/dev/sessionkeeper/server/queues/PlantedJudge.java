package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.server.http.Caller;
import dev.sessionkeeper.server.http.Role;

/** Breaks the rule that only the kernel decides about access. */
public final class PlantedJudge {
  boolean mayPass(Caller caller) {
    return caller.has(Role.READ);
  }
}
