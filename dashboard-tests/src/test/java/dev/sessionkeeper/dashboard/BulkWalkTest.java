package dev.sessionkeeper.dashboard;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.assertions.LocatorAssertions;
import org.junit.jupiter.api.Test;

/** Many dead letters at once: filter, count, confirm by number, act, check. */
class BulkWalkTest {
  @Test
  void deadLettersOfOneCauseAreCountedConfirmedAndReplayed() {
    try (var keeper = Keeper.start("");
        var browser = new Browser();
        var tab = browser.open(Browser.Look.LIGHT, keeper.url("/"))) {
      keeper.fill();
      var page = tab.page();
      page.navigate(keeper.url("/ui/queues/mails/dead-letters"));
      page.locator("th a:has-text('mailbox')").first().click();
      page.locator(".bulk button").click();
      assertThat(page.locator("h1")).containsText("Replay: 6");
      assertThat(page.locator(".samples li")).hasCount(6);
      tab.shoot("bulk-confirm");
      tab.requireAccessible();
      assertThat(keeper.ok("GET", "/queues/mails", "")).contains("\"dead\":7");

      page.getByLabel("Reason, for the next person").fill("the mailboxes are empty again");
      page.locator("#typed").fill("5");
      page.locator("button.main").click();
      assertThat(page.locator("h1"))
          .containsText("Replay: 6"); // The browser does not submit the form.
      page.locator("#typed").fill("6");
      page.locator("button.main").click();
      assertThat(page.locator(".told")).containsText("continues when you leave this page");
      assertThat(page.locator(".head .pill"))
          .hasText("finished", new LocatorAssertions.HasTextOptions().setTimeout(30_000));
      assertThat(page.locator(".progress")).containsText("6 of 6 looked at, 6 changed");
      assertThat(keeper.ok("GET", "/queues/mails", "")).contains("\"dead\":1");
      tab.requireNoComplaint();
    }
  }

  @Test
  void theEventsOfAFilterAreCountedAndThenSentAgain() {
    try (var keeper = Keeper.start(Keeper.ALL);
        var browser = new Browser();
        var tab = browser.open(Browser.Look.LIGHT, keeper.url("/"))) {
      keeper.fillAll();
      var page = tab.page();
      page.navigate(keeper.url("/ui/events"));
      assertThat(page.locator("main")).containsText("Filter the list to replay many");
      page.navigate(keeper.url("/ui/events?bot=reviewer"));
      page.locator(".bulk button").click();
      assertThat(page.locator("h1")).hasText("Replay events: 6");
      assertThat(page.locator(".samples li")).hasCount(6);
      tab.shoot("events-confirm");
      tab.requireAccessible();
      page.getByLabel("Reason, for the next person").fill("the reviewer was broken");
      page.locator("#typed").fill("6");
      page.locator("button.main").click();
      assertThat(page.locator(".told")).containsText("continues when you leave this page");
      assertThat(page.locator(".head .pill"))
          .hasText("finished", new LocatorAssertions.HasTextOptions().setTimeout(30_000));
      assertThat(page.locator(".progress")).containsText("6 of 6 looked at, 6 sent");
      tab.shoot("events-run");
      assertThat(keeper.ok("GET", "/audit?action=bulk.replayEvents", ""))
          .contains("the reviewer was broken");
      tab.requireNoComplaint();
    }
  }
}
