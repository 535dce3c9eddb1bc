package dev.sessionkeeper.dashboard;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An operator finds, understands, repairs, replays and resumes with the dashboard alone. */
class PoisonWalkTest {
  private int clicks;

  @ParameterizedTest(name = "with scripts: {0}")
  @ValueSource(booleans = {true, false})
  void aPoisonedSessionMovesAgainAfterEightClicks(boolean hasScripts) {
    try (var keeper = Keeper.start("");
        var browser = new Browser();
        var tab = browser.open(Browser.Look.LIGHT, keeper.url("/"), hasScripts)) {
      keeper.queue("orders", "ORDERED", 2, "PARK_SESSION");
      for (var amount : new String[] {"\"12,50\"", "13.50", "14.50"}) {
        keeper.send("orders", "cust-42", "{\"amount\":" + amount + "}");
      }
      keeper.fail("orders", "cust-42", "NumberFormatException: For input string: 12,50");
      keeper.fail("orders", "cust-42", "NumberFormatException: For input string: 12,50");
      var page = tab.page();
      org.awaitility.Awaitility.await()
          .until(() -> keeper.ok("GET", "/samples/queues", "").contains("\"parked\":1"));

      page.navigate(keeper.url("/"));
      click(page, AriaRole.LINK, "cust-42");
      assertThat(page.locator(".whybox")).containsText("Attempt 2 of 2 of message");
      assertThat(page.locator(".whybox")).containsText("2 messages wait behind it");
      click(page, AriaRole.BUTTON, "Dead-letter head");
      reason(page, "the amount has a comma");
      click(page, AriaRole.BUTTON, "Dead-letter head");
      click(page, AriaRole.LINK, "Look and repair");
      page.getByLabel("application/json").fill("{\"amount\":12.50}");
      click(page, AriaRole.BUTTON, "Save and replay");
      reason(page, "comma became a point");
      click(page, AriaRole.BUTTON, "Save and replay");
      assertThat(page.locator(".told")).containsText("back in its old place");
      assertThat(page.locator(".whybox")).containsText("has not been tried");
      tab.shoot("walk-replayed-" + hasScripts);
      click(page, AriaRole.BUTTON, "Resume");
      reason(page, "repaired");
      click(page, AriaRole.BUTTON, "Resume");
      assertThat(page.locator(".told")).containsText("moves again");

      Assertions.assertThat(clicks).isEqualTo(8);
      var id = keeper.lease("orders", "cust-42");
      var messages = keeper.ok("GET", "/queues/orders/leases/" + id + "/messages?max=10", "");
      Assertions.assertThat(messages)
          .containsSubsequence("\"amount\":12.50", "\"amount\":13.50", "\"amount\":14.50");
      var audit = keeper.ok("GET", "/audit", "");
      Assertions.assertThat(audit)
          .contains("session.deadLetterHead", "dead-letters.repair", "dead-letters.replay")
          .contains("session.resume", "comma became a point");
      Assertions.assertThat(keeper.ok("GET", "/audit?action=dead-letters.replay", ""))
          .as("the reason of the replay")
          .contains("comma became a point");
      tab.requireNoComplaint();
    }
  }

  /** Clicks the button, in the open dialog if there is one. */
  private void click(Page page, AriaRole role, String name) {
    clicks++;
    var dialog = page.locator("dialog[open]");
    var options =
        new com.microsoft.playwright.Locator.GetByRoleOptions()
            .setName(name)
            .setExact(role == AriaRole.BUTTON);
    if (dialog.count() > 0) {
      dialog.getByRole(role, options).click();
    } else {
      page.locator("main").getByRole(role, options).first().click();
    }
  }

  private static void reason(Page page, String text) {
    page.locator("dialog[open]").getByLabel("Reason, for the next person").fill(text);
  }
}
