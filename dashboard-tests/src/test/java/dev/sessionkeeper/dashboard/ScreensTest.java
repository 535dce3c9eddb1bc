package dev.sessionkeeper.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every screen, as it looks and as it reads. */
class ScreensTest {
  static final Map<String, String> SCREENS = new LinkedHashMap<>();

  static {
    SCREENS.put("overview", "/");
    SCREENS.put("queues", "/ui/queues");
    SCREENS.put("queue", "/ui/queues/orders");
    SCREENS.put("queue-held", "/ui/queues/orders?tab=held");
    SCREENS.put("queue-unordered", "/ui/queues/pictures");
    SCREENS.put("session", "/ui/queues/orders/session?id=cust-42");
    SCREENS.put("session-messages", "/ui/queues/orders/session?id=cust-42&view=messages");
    SCREENS.put("session-letters", "/ui/queues/mails/session?id=user-1&view=letters");
    SCREENS.put("session-state", "/ui/queues/orders/session?id=cust-42&view=state");
    SCREENS.put("session-hostile", "/ui/queues/orders/session?id=" + encoded(Keeper.HOSTILE));
    SCREENS.put("session-long", "/ui/queues/orders/session?id=" + "x".repeat(128));
    SCREENS.put("session-unknown", "/ui/queues/orders/session?id=nobody");
    SCREENS.put("dead-letters", "/ui/queues/mails/dead-letters");
    SCREENS.put("dead-letter", "/ui/queues/mails/dead-letters/1");
    SCREENS.put("dead-letter-large", "/ui/queues/mails/dead-letters/7");
    SCREENS.put("bulk", "/ui/bulk");
    SCREENS.put("events", "/ui/events");
    SCREENS.put("bots", "/ui/bots");
    SCREENS.put("registry", "/ui/registry");
    SCREENS.put("usage", "/ui/usage");
    SCREENS.put("usage-proof", "/ui/usage?proof=1");
    SCREENS.put("jobs", "/ui/jobs");
    SCREENS.put("job", "/ui/jobs/queue-housekeeping");
    SCREENS.put("streams", "/ui/streams");
    SCREENS.put("stream", "/ui/streams/news");
    SCREENS.put("access", "/ui/access");
    SCREENS.put("system", "/ui/system");
  }

  private static Keeper keeper;
  private static Browser browser;

  @BeforeAll
  static void start() {
    keeper = Keeper.start("");
    keeper.fill();
    browser = new Browser();
  }

  @AfterAll
  static void stop() {
    browser.close();
    keeper.close();
  }

  @ParameterizedTest
  @EnumSource(Browser.Look.class)
  void everyScreenIsCleanAndAccessible(Browser.Look look) {
    try (var tab = browser.open(look, keeper.url("/"))) {
      SCREENS.forEach(
          (name, path) -> {
            assertThat(tab.page().navigate(keeper.url(path)).status()).as(path).isEqualTo(200);
            tab.page().waitForSelector("h1");
            tab.shoot("full-" + name + "-" + look);
            tab.requireAccessible();
            assertThat(tab.page().title()).as("a hostile text must not run").isNotEqualTo("owned");
            assertThat(tab.page().evaluate("document.documentElement.scrollWidth <= innerWidth"))
                .as("nothing of " + name + " sticks out at the right in " + look)
                .isEqualTo(true);
            tab.requireNoComplaint();
          });
    }
  }

  @Test
  void pagesAreWholeWithoutScripts() {
    try (var tab = browser.open(Browser.Look.LIGHT, keeper.url("/"), false)) {
      SCREENS.forEach(
          (name, path) -> {
            tab.page().navigate(keeper.url(path));
            assertThat(tab.page().locator("h1").count()).as(path).isEqualTo(1);
          });
      tab.page().navigate(keeper.url("/"));
      assertThat(tab.page().locator("#charts polyline").count()).isGreaterThan(2);
      tab.requireNoComplaint();
    }
  }

  static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }
}
