package dev.sessionkeeper.dashboard;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.assertions.LocatorAssertions;
import com.microsoft.playwright.options.AriaRole;
import org.junit.jupiter.api.Test;

/**
 * Follows a person on call who has read how-to/use-the-dashboard only: for each status of a blocked
 * session, from the overview to the button that the page recommends.
 */
class OnCallTest {
  @Test
  void eachKindOfBlockedSessionIsFoundFromTheOverviewAndMoves() {
    try (var keeper = Keeper.start("");
        var browser = new Browser();
        var tab = browser.open(Browser.Look.LIGHT, keeper.url("/"))) {
      keeper.queue("orders", "ORDERED", 2, "PARK_SESSION");
      for (var session : new String[] {"parked-1", "paused-1", "hanging-1", "retrying-1"}) {
        keeper.send("orders", session, "{\"n\":1}");
      }
      keeper.fail("orders", "parked-1", "the stock service was away");
      keeper.fail("orders", "parked-1", "the stock service was away");
      keeper.ok(
          "POST",
          "/queues/orders/sessions/actions",
          "{\"sessionId\":\"paused-1\",\"action\":\"pause\",\"reason\":\"wait for Monday\"}");
      keeper.ok(
          "POST", "/queues/orders/leases", "{\"sessionId\":\"hanging-1\",\"owner\":\"worker-3\"}");
      keeper.failFor("orders", "retrying-1", "timeout", "PT30M");
      await()
          .until(
              () ->
                  keeper
                      .ok("GET", "/queues/orders/sessions/search?counts=true", "")
                      .contains("\"attention\":3,\"held\":1"));
      await().until(() -> keeper.ok("GET", "/samples/queues", "").contains("\"held\":1"));
      var page = tab.page();

      page.navigate(keeper.url("/"));
      open(page, "parked-1");
      says(page, "Attempt 2 of 2 of message", "the stock service was away", "Press Resume");
      act(page, "Resume", "the stock service is back");
      assertThat(page.locator(".told")).containsText("moves again");

      fromTheNumberOf(page, keeper, "Paused sessions");
      open(page, "paused-1");
      says(page, "A person paused it", "wait for Monday", "Press Resume");
      act(page, "Resume", "it is Monday");
      assertThat(page.locator(".told")).containsText("moves again");

      fromTheNumberOf(page, keeper, "Held sessions");
      open(page, "hanging-1");
      says(page, "worker-3 holds it", "press Release");
      act(page, "Release", "worker-3 hangs");
      assertThat(page.locator(".told")).containsText("was taken from its owner");

      page.navigate(keeper.url("/ui/queues/orders"));
      open(page, "retrying-1");
      says(page, "Attempt 1 of 2 of message", "timeout", "Press Resume");
      act(page, "Resume", "it is there again");
      assertThat(page.locator(".whybox"))
          .containsText(
              "Nothing blocks it", new LocatorAssertions.ContainsTextOptions().setTimeout(20_000));
      tab.requireNoComplaint();
    }
  }

  private static void open(Page page, String session) {
    page.locator("main")
        .getByRole(
            AriaRole.LINK, new com.microsoft.playwright.Locator.GetByRoleOptions().setName(session))
        .first()
        .click();
    assertThat(page.locator("h1")).hasText(session);
  }

  /** Goes from the overview through the number of a status to its list. */
  private static void fromTheNumberOf(Page page, Keeper keeper, String title) {
    page.navigate(keeper.url("/"));
    page.locator(".kpis div", new Page.LocatorOptions().setHasText(title))
        .getByRole(AriaRole.LINK)
        .click();
    var cell = title.startsWith("Held") ? "Held" : "Paused";
    page.locator("td[data-label='" + cell + "'] a").first().click();
    assertThat(page.locator("h1")).hasText("orders");
  }

  private static void says(Page page, String... texts) {
    for (var text : texts) {
      assertThat(page.locator(".whybox")).containsText(text);
    }
  }

  private static void act(Page page, String button, String reason) {
    page.locator(".acts")
        .getByRole(
            AriaRole.BUTTON,
            new com.microsoft.playwright.Locator.GetByRoleOptions().setName(button).setExact(true))
        .click();
    page.locator("dialog[open]").getByLabel("Reason, for the next person").fill(reason);
    page.locator("dialog[open] button.main, dialog[open] .buttons button:not([type=button])")
        .first()
        .click();
  }
}
