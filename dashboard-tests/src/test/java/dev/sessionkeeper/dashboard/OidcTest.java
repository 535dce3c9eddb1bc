package dev.sessionkeeper.dashboard;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import dev.sessionkeeper.server.security.ApiKeys;
import java.io.IOException;
import java.net.ServerSocket;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Logins at an OpenID Connect provider on another site. */
class OidcTest {
  private static final ApiKeys.Generated ADMIN = ApiKeys.generate();

  private static LocalIssuer issuer;
  private static Keeper keeper;
  private static Browser browser;

  @BeforeAll
  static void start() throws IOException {
    issuer = new LocalIssuer();
    int port;
    try (var free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    keeper =
        Keeper.start(
                """
                security:
                  keys: [{name: boss, sha256: %s, roles: [admin]}]
                  jwt: {issuer: "%s", audience: "%s", jwks_url: "%s/jwks"}
                dashboard:
                  public_url: "http://localhost:%d"
                  oidc: {client_id: "%s", client_secret: "%s"}
                """
                    .formatted(
                        ADMIN.sha256(),
                        issuer.address(),
                        LocalIssuer.CLIENT,
                        issuer.address(),
                        port,
                        LocalIssuer.CLIENT,
                        LocalIssuer.SECRET),
                port)
            .as(ADMIN.key());
    browser = new Browser();
  }

  @AfterAll
  static void stop() {
    browser.close();
    keeper.close();
    issuer.close();
  }

  @BeforeEach
  void honest() {
    issuer.claims(claims -> claims);
  }

  private static void goToProvider(Page page, String path) {
    page.navigate(keeper.url(path));
    page.getByText("Log in with 127.0.0.1").click();
    assertThat(page.locator("#yes")).isVisible();
  }

  @Test
  void thePageThatWasAskedForOpensAfterTheProvider() {
    try (var tab = browser.open(Browser.Look.LIGHT, keeper.url("/"))) {
      var page = tab.page();
      page.navigate(keeper.url("/ui/registry?active=true"));
      tab.shoot("login-provider");
      tab.requireAccessible();
      goToProvider(page, "/ui/registry?active=true");
      var state = tab.context().cookies(keeper.url("/")).getFirst();
      assertThat(state.name).isEqualTo("keeper-login");
      assertThat(String.valueOf(state.sameSite)).isEqualTo("LAX");
      assertThat(state.httpOnly).isTrue();
      page.locator("#yes").click();
      assertThat(page).hasURL(keeper.url("/ui/registry?active=true"));
      assertThat(page.locator(".who")).hasText("token:ann");
      var login =
          tab.context().cookies().stream().filter(one -> one.name.equals("keeper")).findFirst();
      assertThat(String.valueOf(login.orElseThrow().sameSite)).isEqualTo("STRICT");
      assertThat(page.locator("nav a[href='/ui/access']").count()).as("not an admin").isZero();
      assertThat(page.navigate(keeper.url("/ui/jobs")).status())
          .as("the token is bound to a tenant")
          .isEqualTo(403);
      assertThat(keeper.ok("GET", "/audit?action=dashboard.login", ""))
          .contains("with a token of the identity provider", "\"actor\":\"token:ann\"");
      assertThat(
              tab.complaints().stream()
                  .filter(one -> !one.startsWith("foreign request " + issuer.address()))
                  .filter(one -> !one.contains("403")))
          .isEmpty();
    }
  }

  @Test
  void aPersonWhoRefusesAtTheProviderComesBackToTheForm() {
    try (var tab = browser.open(Browser.Look.LIGHT, keeper.url("/"))) {
      goToProvider(tab.page(), "/ui/queues");
      tab.page().locator("#no").click();
      assertThat(tab.page().locator("[role=alert]")).containsText("<b>Ann said no</b>");
      assertThat(keeper.ok("GET", "/audit?action=dashboard.login", ""))
          .as("anyone could fill the audit log with words of their own")
          .doesNotContain("Ann said no");
    }
  }

  @Test
  void aCodeCountsOnceAndOnlyInTheBrowserThatBegan() {
    try (var tab = browser.open(Browser.Look.LIGHT, keeper.url("/"));
        var other = browser.open(Browser.Look.LIGHT, keeper.url("/"))) {
      goToProvider(tab.page(), "/ui/queues");
      var callback = tab.page().locator("#yes").getAttribute("href");
      other.page().navigate(callback);
      assertThat(other.page().locator("[role=alert]")).containsText("began in another browser");
      tab.page().navigate(callback);
      assertThat(tab.page().locator("h1")).hasText("Queues");
      tab.context()
          .clearCookies(
              new com.microsoft.playwright.BrowserContext.ClearCookiesOptions().setName("keeper"));
      tab.page().navigate(callback);
      assertThat(tab.page().locator("[role=alert]")).containsText("did not confirm it");
    }
  }

  @Test
  void aTokenIsCheckedLikeEveryOther() {
    issuer.claims(claims -> claims.audience("another client"));
    refused("not known, or has expired");
    issuer.claims(claims -> claims.claim("nonce", "of another login"));
    refused("not accepted");
    issuer.claims(claims -> claims.claim("tenant", "not a guid"));
    refused("tenant");
    issuer.claims(claims -> claims.claim("roles", List.of("cook")));
    refused("Your account has no role here");
  }

  private static void refused(String why) {
    try (var tab = browser.open(Browser.Look.LIGHT, keeper.url("/"))) {
      goToProvider(tab.page(), "/ui/queues");
      tab.page().locator("#yes").click();
      assertThat(tab.page().locator("[role=alert]")).containsText(why);
      assertThat(tab.context().cookies()).noneMatch(cookie -> cookie.name.equals("keeper"));
    }
  }
}
