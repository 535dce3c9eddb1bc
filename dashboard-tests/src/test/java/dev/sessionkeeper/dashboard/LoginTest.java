package dev.sessionkeeper.dashboard;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import dev.sessionkeeper.server.security.ApiKeys;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Logins on a server that requires credentials. */
class LoginTest {
  private static final ApiKeys.Generated ADMIN = ApiKeys.generate();
  private static final ApiKeys.Generated OPERATOR = ApiKeys.generate();
  private static final ApiKeys.Generated SENDER = ApiKeys.generate();
  private static final ApiKeys.Generated READER = ApiKeys.generate();
  private static final ApiKeys.Generated LEAVER = ApiKeys.generate();
  private static final ApiKeys.Generated MAILS_ONLY = ApiKeys.generate();

  private static Keeper keeper;
  private static Browser browser;

  @BeforeAll
  static void start() {
    keeper = Keeper.start(yaml(true)).as(ADMIN.key());
    keeper.fill();
    browser = new Browser();
  }

  @AfterAll
  static void stop() {
    browser.close();
    keeper.close();
  }

  private static String yaml(boolean withLeaver) {
    return "security:\n  keys:\n"
        + key("boss", ADMIN, "[admin]")
        + key("anna", OPERATOR, "[operate]")
        + key("rita", READER, "[read]")
        + key("shop", SENDER, "[send]")
        + key("mia", MAILS_ONLY, "[operate]").replace("}", ", queues: [mails]}")
        + (withLeaver ? key("leo", LEAVER, "[admin]") : "");
  }

  private static String key(String name, ApiKeys.Generated key, String roles) {
    return "    - {name: %s, sha256: %s, roles: %s}%n".formatted(name, key.sha256(), roles);
  }

  private static void login(Page page, String path, String key) {
    page.navigate(keeper.url(path));
    page.getByLabel("API key or token").fill(key);
    page.locator("main button").click();
  }

  @Test
  void aKeyThatMayNotReadIsToldSoAtTheLogin() {
    try (var tab = browser.open(Browser.Look.LIGHT, keeper.url("/"))) {
      login(tab.page(), "/", SENDER.key());
      assertThat(tab.page().locator("[role=alert]"))
          .containsText("may not read, so no page opens for it");
      assertThat(tab.page().getByLabel("API key or token")).isVisible();
    }
  }

  @Test
  void aPageAsksForAKeyAndThenShowsWhatWasAskedFor() {
    try (var tab = browser.open(Browser.Look.LIGHT, keeper.url("/"))) {
      login(tab.page(), "/ui/queues/orders?tab=held", "sk_wrong");
      assertThat(tab.page().locator("[role=alert]")).containsText("not known");
      tab.shoot("login-refused");
      tab.requireAccessible();
      tab.page().getByLabel("API key or token").fill(OPERATOR.key());
      tab.page().locator("main button").click();
      assertThat(tab.page()).hasURL(keeper.url("/ui/queues/orders?tab=held"));
      assertThat(tab.page().locator(".who")).hasText("anna");
      assertThat(keeper.ok("GET", "/audit?action=dashboard.login", ""))
          .contains("\"actor\":\"anna\"");
      var cookie = tab.context().cookies().getFirst();
      assertThat(cookie.httpOnly).isTrue();
      assertThat(String.valueOf(cookie.sameSite)).isEqualTo("STRICT");
      assertThat(cookie.value).doesNotContain(OPERATOR.key()).doesNotContain(OPERATOR.sha256());
      tab.page().locator("text=Log out").click();
      tab.page().navigate(keeper.url("/ui/queues"));
      assertThat(tab.page().getByLabel("API key or token")).isVisible();
    }
  }

  @Test
  void theCookieOpensPagesOnly() {
    try (var tab = browser.open(Browser.Look.LIGHT, keeper.url("/"))) {
      login(tab.page(), "/ui/queues", ADMIN.key());
      assertThat(tab.page().locator("h1")).hasText("Queues");
      var cookie = tab.context().cookies().getFirst();
      var shown = List.of("Cookie", cookie.name + "=" + cookie.value).toArray(String[]::new);
      keeper.as("");
      try {
        assertThat(keeper.call("GET", "/queues", "", shown).statusCode()).isEqualTo(401);
        assertThat(keeper.call("GET", "/ui/queues", "", shown).statusCode()).isEqualTo(200);
        var forged = List.of("Cookie", cookie.name + "=x" + cookie.value).toArray(String[]::new);
        assertThat(keeper.call("GET", "/ui/queues", "", forged).statusCode()).isEqualTo(303);
      } finally {
        keeper.as(ADMIN.key());
      }
    }
  }

  @Test
  void anActNeedsTheFormOfThisBrowserAndThisSite() {
    try (var tab = browser.open(Browser.Look.LIGHT, keeper.url("/"))) {
      login(tab.page(), "/ui/queues/orders/session?id=cust-42", OPERATOR.key());
      var token = tab.page().locator("#d-resume input[name=_csrf]").inputValue();
      var cookie = tab.context().cookies().getFirst();
      var shown = cookie.name + "=" + cookie.value;
      var path = "/ui/queues/orders/session";
      var body = "id=cust-42&act=park&reason=test&_csrf=";
      keeper.as("");
      try {
        assertThat(
                keeper
                    .call(
                        "POST",
                        path,
                        body + "wrong",
                        "Cookie",
                        shown,
                        "Sec-Fetch-Site",
                        "same-origin")
                    .statusCode())
            .as("another token")
            .isEqualTo(403);
        assertThat(
                keeper
                    .call(
                        "POST", path, body + token, "Cookie", shown, "Sec-Fetch-Site", "cross-site")
                    .statusCode())
            .as("another site")
            .isEqualTo(403);
        assertThat(keeper.call("POST", path, body + token, "Cookie", shown).statusCode())
            .as("no proof of the site at all")
            .isEqualTo(403);
        assertThat(
                keeper
                    .call(
                        "POST",
                        path,
                        body + token,
                        "Cookie",
                        shown,
                        "Sec-Fetch-Site",
                        "same-origin")
                    .statusCode())
            .as("the form itself")
            .isEqualTo(303);
      } finally {
        keeper.as(ADMIN.key());
      }
    }
  }

  @Test
  void aReaderSeesNoActAndTheServerRefusesOne() {
    try (var tab = browser.open(Browser.Look.LIGHT, keeper.url("/"))) {
      login(tab.page(), "/ui/queues/orders/session?id=cust-42", READER.key());
      assertThat(tab.page().locator(".whybox")).isVisible();
      assertThat(tab.page().locator(".acts").count()).isZero();
      assertThat(tab.page().locator("nav a[href='/ui/access']").count()).isZero();
      var response =
          keeper
              .as(READER.key())
              .call(
                  "POST",
                  "/ui/queues/orders/session",
                  "id=cust-42&act=resume&reason=x",
                  "Sec-Fetch-Site",
                  "same-origin");
      keeper.as(ADMIN.key());
      assertThat(response.statusCode()).isEqualTo(403);
      assertThat(response.body()).contains("needs the role operate");
    }
  }

  @Test
  void aCredentialOfOneQueueSeesThatQueueOnly() {
    try (var tab = browser.open(Browser.Look.LIGHT, keeper.url("/"))) {
      login(tab.page(), "/", MAILS_ONLY.key());
      assertThat(tab.page().locator("h1")).hasText("Overview");
      assertThat(tab.page().content()).contains("mails").doesNotContain("cust-42");
      assertThat(tab.page().navigate(keeper.url("/ui/queues/orders")).status()).isEqualTo(404);
      assertThat(tab.page().navigate(keeper.url("/ui/jobs")).status()).isEqualTo(403);
    }
  }

  @Test
  void aKeyThatAReloadRemovesIsOutAtOnce() {
    try (var tab = browser.open(Browser.Look.LIGHT, keeper.url("/"))) {
      login(tab.page(), "/ui/queues", LEAVER.key());
      assertThat(tab.page().locator("h1")).hasText("Queues");
      keeper.reload(yaml(false));
      tab.page().navigate(keeper.url("/ui/queues"));
      assertThat(tab.page().getByLabel("API key or token")).isVisible();
      keeper.reload(yaml(true));
    }
  }
}
