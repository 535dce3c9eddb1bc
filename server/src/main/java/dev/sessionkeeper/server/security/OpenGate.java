package dev.sessionkeeper.server.security;

import dev.sessionkeeper.server.http.Caller;
import dev.sessionkeeper.server.http.Gate;
import dev.sessionkeeper.server.http.ProblemType;
import java.util.Set;

/**
 * Lets in whoever reaches the loopback address directly.
 *
 * <p>A web page in the browser of the same machine reaches it, too. Its requests show the page's
 * host, or its origin, and are refused: otherwise any site could empty a developer's queues.
 */
final class OpenGate implements Gate {
  private static final Set<String> LOCAL = Set.of("127.0.0.1", "localhost", "[::1]");

  @Override
  public Caller admit(Visit visit) {
    if (!LOCAL.contains(withoutPort(visit.header("Host")))) {
      throw ProblemType.MISDIRECTED
          .with("Without authentication this server answers for 127.0.0.1 and localhost only")
          .toException();
    }
    var origin = visit.header("Origin");
    if (!origin.isEmpty() && !origin.replaceFirst("^https?://", "").equals(visit.header("Host"))) {
      throw ProblemType.FORBIDDEN
          .with("Without authentication this server takes no requests of other origins")
          .toException();
    }
    return Caller.LOCAL;
  }

  private static String withoutPort(String host) {
    int colon = host.lastIndexOf(':');
    return colon > host.lastIndexOf(']') ? host.substring(0, colon) : host;
  }
}
