package dev.sessionkeeper.dashboard;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.server.security.ApiKeys;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The pictures of the documentation: every screen of a server with traffic and a few problems. */
class PicturesTest {
  private static final ApiKeys.Generated ANNA = ApiKeys.generate();

  private static Map<String, String> screens(Keeper keeper) {
    var event =
        Keeper.field(
            keeper.ok("GET", "/events?limit=1&repository=acme/site", ""),
            "\"eventId\":\"([^\"]+)\"");
    var run = Keeper.field(keeper.ok("GET", "/bulk", ""), "\"id\":\"([^\"]+)\"");
    var letter =
        Keeper.field(
            keeper.ok("GET", "/queues/emails/dead-letters/search?limit=1", ""),
            "\"id\":\"([^\"]+)\"");
    var session = "/ui/queues/orders/session?id=customer-1842";
    var screens = new LinkedHashMap<String, String>();
    screens.put("queues", "/ui/queues");
    screens.put("queue", "/ui/queues/orders");
    screens.put("queue-held", "/ui/queues/orders?tab=held");
    screens.put("queue-ready", "/ui/queues/orders?tab=ready");
    screens.put("session", session);
    screens.put("session-messages", session + "&view=messages");
    screens.put("session-state", "/ui/queues/orders/session?id=customer-0912&view=state");
    screens.put(
        "session-events", "/ui/queues/reviewer/session?id=acme/site/pull_request/119&view=events");
    screens.put("dead-letters", "/ui/queues/emails/dead-letters");
    screens.put("dead-letter", "/ui/queues/emails/dead-letters/" + letter);
    screens.put("events", "/ui/events");
    screens.put("event", "/ui/events/" + event);
    screens.put("bots", "/ui/bots");
    screens.put("registry", "/ui/registry");
    screens.put("usage", "/ui/usage");
    screens.put("usage-proof", "/ui/usage?proof=1");
    screens.put("ledger", "/ui/usage/ledger");
    screens.put("jobs", "/ui/jobs");
    screens.put("job", "/ui/jobs/queue-housekeeping");
    screens.put("streams", "/ui/streams");
    screens.put("stream", "/ui/streams/shipments");
    screens.put("bulk", "/ui/bulk");
    screens.put("bulk-run", "/ui/bulk/" + run);
    screens.put("access", "/ui/access");
    screens.put("system", "/ui/system");
    screens.put("overview", "/");
    return screens;
  }

  @Test
  void everyScreenOfABusyServerIsCleanAndAccessible() {
    try (var keeper = Keeper.start(Shop.CONFIGURATION.formatted(ANNA.sha256())).as(ANNA.key());
        var shop = new Shop(keeper);
        var browser = new Browser();
        var tab = browser.open(Browser.Look.LIGHT, keeper.url("/"))) {
      shop.fill();
      shop.open();
      var page = tab.page();
      page.navigate(keeper.url("/"));
      page.getByLabel("API key or token").fill(ANNA.key());
      page.locator("main button").click();
      assertThat(page.locator(".troubles")).containsText("customer-1842");
      // The proof has something to show once the first sessions are metered.
      await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> keeper.ok("GET", "/usages/batches", "").contains("\"batchId\""));
      screens(keeper)
          .forEach(
              (name, path) -> {
                assertThat(page.navigate(keeper.url(path)).status()).as(path).isEqualTo(200);
                page.waitForSelector("h1");
                for (var look : Browser.Look.values()) {
                  tab.look(look);
                  tab.shoot("shop-" + name + "-" + look);
                  tab.shootWindow("docs-" + name + "-" + look);
                  assertThat(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))
                      .as("nothing of " + name + " sticks out at the right in " + look)
                      .isEqualTo(true);
                }
                tab.requireAccessible();
                tab.look(Browser.Look.LIGHT);
              });
      tab.requireNoComplaint();
    }
  }
}
