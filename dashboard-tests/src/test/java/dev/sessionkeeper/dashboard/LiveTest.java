package dev.sessionkeeper.dashboard;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.assertions.LocatorAssertions;
import java.io.IOException;
import java.net.ServerSocket;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Pages that stay up to date while a person reads, points and types. */
class LiveTest {
  private static Keeper keeper;
  private static Browser browser;

  @BeforeAll
  static void start() throws IOException {
    int port;
    try (var free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    keeper = Keeper.start("", port);
    keeper.queue("orders", "ORDERED", 2, "PARK_SESSION");
    for (int i = 10; i < 50; i++) {
      park("cust-" + i);
    }
    browser = new Browser();
  }

  @AfterAll
  static void stop() {
    browser.close();
    keeper.close();
  }

  private static void park(String session) {
    keeper.send("orders", session, "{\"n\":1}");
    keeper.ok(
        "POST",
        "/queues/orders/sessions/actions",
        "{\"sessionId\":\"%s\",\"action\":\"park\",\"reason\":\"it is poisoned\"}"
            .formatted(session));
  }

  private static void refresh(Page page) {
    page.waitForResponse(
        response -> response.url().contains("/ui/queues/orders"),
        () ->
            page.evaluate(
                "document.getElementById('live').dispatchEvent(new"
                    + " CustomEvent('keeper-refresh'))"));
  }

  @Test
  void aRefreshThatBringsNothingNewIsAnsweredWithout() {
    try (var keeper = Keeper.start("")) {
      var first = keeper.call("GET", "/ui/queues", "", "HX-Request", "true");
      var tag = Keeper.header(first, "ETag").orElseThrow();
      var again = keeper.call("GET", "/ui/queues", "", "HX-Request", "true", "If-None-Match", tag);
      assertThat(again.statusCode()).isEqualTo(304);
      assertThat(again.body()).isEmpty();

      keeper.queue("orders", "ORDERED", 2, "PARK_SESSION");
      await()
          .untilAsserted(
              () ->
                  assertThat(
                          keeper
                              .call(
                                  "GET",
                                  "/ui/queues",
                                  "",
                                  "HX-Request",
                                  "true",
                                  "If-None-Match",
                                  tag)
                              .statusCode())
                      .isEqualTo(200));
    }
  }

  @Test
  void focusSelectionScrollAndOpenPartsSurviveTwentyRefreshes() {
    try (var tab = browser.open(Browser.Look.LIGHT, keeper.url("/"))) {
      var page = tab.page();
      page.navigate(keeper.url("/ui/queues/orders"));
      page.locator("#pause").click();
      page.locator(".copy summary").click();
      page.locator("tr[id='s-cust-30'] a").focus();
      page.evaluate(
          "const cell = document.getElementById('s-cust-31').querySelector('.why');"
              + "getSelection().selectAllChildren(cell); scrollTo(0, 400)");
      var scroll = page.evaluate("scrollY");
      for (int i = 0; i < 20; i++) {
        refresh(page);
      }
      assertThat(page.evaluate("document.activeElement.closest('tr').id")).isEqualTo("s-cust-30");
      assertThat(page.evaluate("String(getSelection())")).isEqualTo("it is poisoned");
      assertThat(page.evaluate("scrollY")).isEqualTo(scroll);
      assertThat(page.evaluate("document.querySelector('.copy').open")).isEqualTo(true);
      tab.requireNoComplaint();
    }
  }

  @Test
  void rowsThatComeUnderThePointerWaitForAClick() {
    try (var tab = browser.open(Browser.Look.LIGHT, keeper.url("/"))) {
      var page = tab.page();
      page.navigate(keeper.url("/ui/queues/orders"));
      page.locator("tr[id='s-cust-12']").hover();
      park("a-new-one");
      assertThat(page.locator("#fresh"))
          .hasText("1 new", new LocatorAssertions.HasTextOptions().setTimeout(20_000));
      assertThat(page.locator("tr[id='s-a-new-one']")).hasCount(0);
      page.locator("#fresh").click();
      assertThat(page.locator("tr[id='s-a-new-one']")).hasCount(1);
      assertThat(page.locator("#fresh")).isHidden();
    }
  }

  @Test
  void aHiddenPageAndAPausedOneCloseTheirStream() {
    try (var tab = browser.open(Browser.Look.LIGHT, keeper.url("/"))) {
      var page = tab.page();
      page.navigate(keeper.url("/ui/queues/orders"));
      await().until(() -> keeper.running() == 1);
      hide(page, true);
      await().until(() -> keeper.running() == 0);
      hide(page, false);
      await().until(() -> keeper.running() == 1);
      page.locator("#pause").click();
      assertThat(page.locator("#pause")).containsText("Paused");
      await().until(() -> keeper.running() == 0);
    }
  }

  private static void hide(Page page, boolean isHidden) {
    page.evaluate(
        "Object.defineProperty(document, 'hidden', {get: () => %s, configurable: true});"
                .formatted(isHidden)
            + "document.dispatchEvent(new Event('visibilitychange'))");
  }

  @Test
  void theHeadOfAColumnSortsQueuesByIt() {
    try (var tab = browser.open(Browser.Look.LIGHT, keeper.url("/"))) {
      var page = tab.page();
      keeper.queue("a-quiet-one", "ORDERED", 2, "PARK_SESSION");
      await().until(() -> keeper.ok("GET", "/samples/queues", "").contains("\"a-quiet-one\""));
      page.navigate(keeper.url("/ui/queues"));
      assertThat(page.locator("tbody th").first()).containsText("a-quiet-one");
      page.locator("thead a.sort", new Page.LocatorOptions().setHasText("Parked")).click();
      assertThat(page.locator("tbody th").first()).containsText("orders");
      assertThat(page.locator("th[aria-sort=descending]")).containsText("Parked");
      tab.requireNoComplaint();
    }
  }

  @Test
  void keysMoveSelectAndOpen() {
    try (var tab = browser.open(Browser.Look.LIGHT, keeper.url("/"))) {
      var page = tab.page();
      page.navigate(keeper.url("/ui/queues/orders"));
      page.keyboard().press("/");
      assertThat(page.locator("#filter")).isFocused();
      page.locator("h1").click();
      page.keyboard().press("j");
      page.keyboard().press("j");
      page.keyboard().press("k");
      page.keyboard().press("x");
      assertThat(page.locator("tr.at.picked")).hasCount(1);
      page.keyboard().press("Enter");
      assertThat(page.locator(".whybox")).containsText("parked");
      page.keyboard().press("?");
      assertThat(page.locator("#keys")).isVisible();
      page.keyboard().press("Escape");
      assertThat(page.locator("#keys")).isHidden();
      page.keyboard().press("g");
      page.keyboard().press("j");
      assertThat(page.locator("h1")).hasText("Jobs");
      tab.requireNoComplaint();
    }
  }

  @Test
  void aPageGoesOnAfterTheServerWasStartedAgain() {
    try (var tab = browser.open(Browser.Look.LIGHT, keeper.url("/"))) {
      var page = tab.page();
      page.navigate(keeper.url("/ui/queues/orders"));
      await().until(() -> keeper.running() == 1);
      keeper.stopServer();
      assertThat(page.locator("#stale")).containsText("The connection is lost");
      keeper.startServer();
      await().atMost(Duration.ofSeconds(60)).until(() -> keeper.running() == 1);
      assertThat(page.locator("#stale"))
          .isHidden(new LocatorAssertions.IsHiddenOptions().setTimeout(30_000));
      assertThat(page.locator("h1")).hasText("orders");
    }
  }
}
