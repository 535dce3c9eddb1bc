package dev.sessionkeeper.server.security;

import dev.sessionkeeper.server.http.Caller;
import dev.sessionkeeper.server.http.Gate;
import dev.sessionkeeper.server.http.ProblemType;
import java.util.List;
import java.util.Set;

/**
 * Admits callers that reach the loopback address directly.
 *
 * <p>A web page in a browser on the same machine can reach it too. Its requests carry the page's
 * host or origin, and are refused: otherwise any site could empty a developer's queues.
 */
final class OpenGate implements Gate {
  private static final List<String> PROXIES =
      List.of("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Via");
  private static final Set<String> LOCAL = Set.of("127.0.0.1", "localhost", "[::1]");

  @Override
  public Caller admit(Visit visit) {
    requireNoProxy(visit);
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

  /** A proxy on this machine would make the whole network look local. */
  private static void requireNoProxy(Visit visit) {
    for (var header : PROXIES) {
      if (!visit.header(header).isEmpty()) {
        throw ProblemType.FORBIDDEN
            .with(
                "The header "
                    + header
                    + " shows that a proxy sent this request, and this server asks for no"
                    + " credentials; configure security before you publish it")
            .toException();
      }
    }
  }

  private static String withoutPort(String host) {
    int colon = host.lastIndexOf(':');
    return colon > host.lastIndexOf(']') ? host.substring(0, colon) : host;
  }
}
