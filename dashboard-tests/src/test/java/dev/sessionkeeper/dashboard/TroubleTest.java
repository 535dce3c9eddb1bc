package dev.sessionkeeper.dashboard;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.assertions.LocatorAssertions;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Screens with nothing to show, and with a store that does not answer. */
class TroubleTest {
  private static final Map<String, String> EMPTY =
      Map.ofEntries(
          Map.entry("overview", "/"),
          Map.entry("queues", "/ui/queues"),
          Map.entry("events", "/ui/events"),
          Map.entry("bots", "/ui/bots"),
          Map.entry("registry", "/ui/registry"),
          Map.entry("usage", "/ui/usage"),
          Map.entry("jobs", "/ui/jobs"),
          Map.entry("streams", "/ui/streams"),
          Map.entry("bulk", "/ui/bulk"),
          Map.entry("access", "/ui/access"),
          Map.entry("system", "/ui/system"));

  @Test
  void anEmptyServerSaysHowToBeginAndAStoreThatIsAwayIsNamed() {
    try (var keeper = Keeper.start("");
        var browser = new Browser();
        var tab = browser.open(Browser.Look.LIGHT, keeper.url("/"))) {
      var page = tab.page();
      EMPTY.forEach(
          (name, path) -> {
            assertThat(page.navigate(keeper.url(path)).status()).as(path).isEqualTo(200);
            tab.shoot("empty-" + name);
            tab.requireAccessible();
          });
      tab.requireNoComplaint();
      keeper.queue("orders", "ORDERED", 2, "PARK_SESSION");
      page.navigate(keeper.url("/ui/queues/orders"));
      assertThat(page.locator("h1")).hasText("orders");

      keeper.stopDatabase();

      // What was read last stays, and says that it is old.
      page.evaluate(
          "document.getElementById('live').dispatchEvent(new CustomEvent('keeper-refresh'))");
      assertThat(page.locator("#stale"))
          .containsText(
              "answered 503", new LocatorAssertions.ContainsTextOptions().setTimeout(30_000));
      assertThat(page.locator("h1")).hasText("orders");
      tab.shoot("down-queue-kept");

      assertThat(page.navigate(keeper.url("/ui/queues/orders")).status()).isEqualTo(503);
      assertThat(page.locator("[role=alert] h1")).hasText("The store does not answer");
      assertThat(page.locator("[role=alert]")).containsText("Try again");
      tab.shoot("down-queue");
      tab.requireAccessible();
    }
  }
}
