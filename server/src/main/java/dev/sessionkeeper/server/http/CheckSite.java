package dev.sessionkeeper.server.http;

import java.util.Set;

/**
 * Refuses requests that the page of another site made a browser send. Browsers name the site in
 * {@code Sec-Fetch-Site}, which a page cannot change; other clients do not send that header.
 */
final class CheckSite {
  /** No header, an address that a person typed, and pages of this server itself. */
  private static final Set<String> TRUSTED = Set.of("", "none", "same-origin");

  private CheckSite() {}

  /**
   * Lets public reads pass from anywhere, and everything else from this site only.
   *
   * @throws ProblemException 403
   */
  static void check(Route route, String fetchSite) {
    boolean isPublicRead = route.scope() instanceof Scope.Public && route.method().equals("GET");
    if (!isPublicRead && !TRUSTED.contains(fetchSite)) {
      throw ProblemType.FORBIDDEN
          .with("A page of another site sent this request; open the address in the browser itself")
          .toException();
    }
  }
}
