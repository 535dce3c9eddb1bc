package dev.sessionkeeper.dashboard;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.assertions.LocatorAssertions;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Every screen, with its accessibility: empty, full of hostile texts, and while the store is away;
 * each in light, in dark and on a phone.
 */
class ScreensTest {
  /** Returns the screens that need no object. */
  private static Map<String, String> sections() {
    var screens = new LinkedHashMap<String, String>();
    screens.put("overview", "/");
    screens.put("queues", "/ui/queues");
    screens.put("events", "/ui/events");
    screens.put("bots", "/ui/bots");
    screens.put("registry", "/ui/registry");
    screens.put("usage", "/ui/usage");
    screens.put("jobs", "/ui/jobs");
    screens.put("streams", "/ui/streams");
    screens.put("bulk", "/ui/bulk");
    screens.put("access", "/ui/access");
    screens.put("system", "/ui/system");
    return screens;
  }

  /** Returns the screens of one object. */
  private static Map<String, String> objects(Keeper keeper) {
    var screens = new LinkedHashMap<String, String>();
    screens.put("queue", "/ui/queues/orders");
    screens.put("queue-held", "/ui/queues/orders?tab=held");
    screens.put("queue-ready", "/ui/queues/orders?tab=ready");
    screens.put("queue-unordered", "/ui/queues/pictures");
    screens.put("session", "/ui/queues/orders/session?id=cust-42");
    screens.put("session-messages", "/ui/queues/orders/session?id=cust-42&view=messages");
    screens.put("session-letters", "/ui/queues/mails/session?id=user-1&view=letters");
    screens.put("session-state", "/ui/queues/orders/session?id=cust-42&view=state");
    screens.put("session-hostile", "/ui/queues/orders/session?id=" + encoded(Keeper.HOSTILE));
    screens.put("session-long", "/ui/queues/orders/session?id=" + "x".repeat(128));
    screens.put("session-unknown", "/ui/queues/orders/session?id=nobody");
    screens.put("dead-letters", "/ui/queues/mails/dead-letters");
    screens.put("dead-letter", "/ui/queues/mails/dead-letters/1");
    screens.put("dead-letter-large", "/ui/queues/mails/dead-letters/7");
    screens.put("bulk-run", "/ui/bulk/" + keeper.bulkRun);
    screens.put("event", "/ui/events/" + keeper.eventId);
    screens.put("usage-proof", "/ui/usage?proof=1");
    screens.put("ledger", "/ui/usage/ledger");
    screens.put("job", "/ui/jobs/queue-housekeeping");
    screens.put("stream", "/ui/streams/news");
    return screens;
  }

  private static void look(Browser.Tab tab, String state, String name) {
    for (var look : Browser.Look.values()) {
      tab.look(look);
      tab.shoot(state + "-" + name + "-" + look);
      tab.requireAccessible();
      assertThat(tab.page().evaluate("document.documentElement.scrollWidth <= innerWidth"))
          .as("nothing of " + name + " sticks out at the right in " + look)
          .isEqualTo(true);
    }
    tab.look(Browser.Look.LIGHT);
  }

  @Test
  void everyFullScreenIsCleanAndAccessibleAndRunsNoHostileText() {
    try (var keeper = Keeper.start(Keeper.ALL);
        var browser = new Browser();
        var tab = browser.open(Browser.Look.LIGHT, keeper.url("/"))) {
      keeper.fillAll();
      // The numbers are two seconds old at most.
      tab.page().navigate(keeper.url("/"));
      assertThat(tab.page().locator(".troubles")).containsText("parked session");
      var screens = sections();
      screens.putAll(objects(keeper));
      screens.forEach(
          (name, path) -> {
            assertThat(tab.page().navigate(keeper.url(path)).status()).as(path).isEqualTo(200);
            tab.page().waitForSelector("h1");
            look(tab, "full", name);
            keeper.traffic();
            if (name.equals("bots")) {
              assertThat(tab.page().locator("main")).containsText("Last failures");
            }
            assertThat(tab.page().title()).as("a hostile text must not run").isNotEqualTo("owned");
            tab.requireNoComplaint();
          });
    }
  }

  @Test
  void pagesAreWholeWithoutScripts() {
    try (var keeper = Keeper.start(Keeper.ALL);
        var browser = new Browser();
        var tab = browser.open(Browser.Look.LIGHT, keeper.url("/"), false)) {
      keeper.fillAll();
      var screens = sections();
      screens.putAll(objects(keeper));
      screens.forEach(
          (name, path) -> {
            tab.page().navigate(keeper.url(path));
            assertThat(tab.page().locator("h1").count()).as(path).isEqualTo(1);
          });
      tab.page().navigate(keeper.url("/"));
      assertThat(tab.page().locator("#charts polyline").count()).isGreaterThan(2);
      tab.requireNoComplaint();
    }
  }

  @Test
  void anEmptyServerSaysHowToBeginAndAStoreThatIsAwayIsNamed() {
    try (var keeper = Keeper.start("");
        var browser = new Browser();
        var tab = browser.open(Browser.Look.LIGHT, keeper.url("/"))) {
      var page = tab.page();
      sections()
          .forEach(
              (name, path) -> {
                assertThat(page.navigate(keeper.url(path)).status()).as(path).isEqualTo(200);
                look(tab, "empty", name);
              });
      tab.requireNoComplaint();
      keeper.queue("orders", "ORDERED", 2, "PARK_SESSION");
      page.navigate(keeper.url("/ui/queues/orders"));
      assertThat(page.locator("h1")).hasText("orders");
      look(tab, "empty", "queue");
      page.navigate(keeper.url("/ui/queues/orders/dead-letters"));
      look(tab, "empty", "dead-letters");
      page.navigate(keeper.url("/ui/queues/orders"));
      assertThat(page.locator("h1")).hasText("orders");

      keeper.stopDatabase();

      // The last values stay, marked as old.
      page.evaluate(
          "document.getElementById('live').dispatchEvent(new CustomEvent('keeper-refresh'))");
      assertThat(page.locator("#stale"))
          .containsText(
              "answered 503", new LocatorAssertions.ContainsTextOptions().setTimeout(30_000));
      assertThat(page.locator("h1")).hasText("orders");
      tab.shoot("down-queue-kept");

      var down = sections();
      down.putAll(objects(keeper));
      keeper
          .callAll(down.values())
          .forEach(
              (path, answer) -> {
                assertThat(answer.statusCode()).as(path).isIn(200, 503);
                if (answer.statusCode() == 503) {
                  assertThat(answer.body())
                      .as(path)
                      .contains(
                          "<h1>The store does not answer</h1>", "Try again", "The log has this as");
                }
              });
      for (var screen : down.entrySet()) {
        page.navigate(keeper.url(screen.getValue()));
        assertThat(page.locator("h1").count()).as(screen.getKey()).isEqualTo(1);
        look(tab, "down", screen.getKey());
      }
    }
  }

  static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }
}
