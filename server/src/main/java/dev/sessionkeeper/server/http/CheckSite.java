package dev.sessionkeeper.server.http;

import java.util.Set;

/**
 * Refuses requests that a page of another site made a browser send. Browsers name the site in
 * {@code Sec-Fetch-Site}, which a page cannot change; other clients do not send that header.
 */
final class CheckSite {
  private static final String SAME = "same-origin";

  /**
   * The trusted values: no header (not a browser), an address that a person typed, and pages of
   * this server.
   */
  private static final Set<String> TRUSTED = Set.of("", "none", SAME);

  private CheckSite() {}

  /**
   * Allows public reads from anywhere, and everything else from this site and the listed origins. A
   * form must prove that a page of this server issued it; no listed origin may send one.
   *
   * @throws ProblemException 403
   */
  static void check(Route route, Gate.Visit visit, boolean isOriginAllowed) {
    var site = visit.header("Sec-Fetch-Site");
    boolean isRead = route.method().equals("GET");
    boolean isPublicRead = route.scope() instanceof Scope.Public && isRead;
    boolean isForm = route.isPage() && !isRead;
    boolean isFromElsewhere =
        isForm
            ? !isFromHere(site, visit)
            : !isPublicRead && !isOriginAllowed && !TRUSTED.contains(site);
    if (isFromElsewhere) {
      throw ProblemType.FORBIDDEN
          .with("A page of another site sent this request; open the address in the browser itself")
          .toException();
    }
  }

  private static boolean isFromHere(String site, Gate.Visit visit) {
    if (!site.isEmpty()) {
      return site.equals(SAME);
    }
    var origin = visit.header("Origin");
    return !origin.isEmpty() && origin.replaceFirst("^https?://", "").equals(visit.header("Host"));
  }
}
