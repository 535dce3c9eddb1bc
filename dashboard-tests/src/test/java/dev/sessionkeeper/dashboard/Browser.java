package dev.sessionkeeper.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import com.deque.html.axecore.playwright.AxeBuilder;
import com.microsoft.playwright.Browser.NewContextOptions;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import com.microsoft.playwright.options.ColorScheme;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Chromium, and the errors that it reported. */
final class Browser implements AutoCloseable {
  /** Pages show what they show within two seconds; a busy machine may take longer. */
  private static final int PATIENCE_MILLIS = 20_000;

  static {
    PlaywrightAssertions.setDefaultAssertionTimeout(PATIENCE_MILLIS);
  }

  private static final List<String> WCAG =
      List.of("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa");

  private final Playwright playwright =
      Playwright.create(
          new Playwright.CreateOptions()
              .setEnv(java.util.Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
  private final com.microsoft.playwright.Browser chromium =
      playwright
          .chromium()
          .launch(
              new BrowserType.LaunchOptions()
                  .setExecutablePath(Path.of(System.getProperty("browser", "/usr/bin/chromium")))
                  .setArgs(List.of("--no-sandbox", "--disable-gpu")));

  /** A colour scheme and screen size. */
  enum Look {
    LIGHT(ColorScheme.LIGHT, 1280, 900),
    DARK(ColorScheme.DARK, 1280, 900),
    PHONE(ColorScheme.LIGHT, 390, 844);

    private final ColorScheme scheme;
    private final int width;
    private final int height;

    Look(ColorScheme scheme, int width, int height) {
      this.scheme = scheme;
      this.width = width;
      this.height = height;
    }
  }

  /** A tab with its errors. */
  record Tab(BrowserContext context, Page page, List<String> complaints) implements AutoCloseable {
    void requireNoComplaint() {
      assertThat(complaints).as("console messages and foreign requests of " + page.url()).isEmpty();
    }

    void requireAccessible() {
      var violations = new AxeBuilder(page).withTags(WCAG).analyze().getViolations();
      assertThat(violations)
          .as("axe at " + page.url())
          .extracting(
              rule ->
                  rule.getId()
                      + ": "
                      + rule.getNodes().stream().limit(3).map(Object::toString).toList())
          .isEmpty();
    }

    /** Shows the page in another scheme or size, without reloading it. */
    void look(Look look) {
      page.emulateMedia(new Page.EmulateMediaOptions().setColorScheme(look.scheme));
      page.setViewportSize(look.width, look.height);
    }

    /** Keeps a picture of the whole page. */
    void shoot(String name) {
      shoot(name, true);
    }

    /** Keeps a picture of what a person sees without scrolling. */
    void shootWindow(String name) {
      shoot(name, false);
    }

    private void shoot(String name, boolean isWhole) {
      page.screenshot(
          new Page.ScreenshotOptions()
              .setPath(Path.of("target", "screens", name + ".png"))
              .setFullPage(isWhole));
    }

    @Override
    public void close() {
      context.close();
    }
  }

  Tab open(Look look, String host) {
    return open(look, host, true);
  }

  Tab open(Look look, String host, boolean hasScripts) {
    var context =
        chromium.newContext(
            new NewContextOptions()
                .setColorScheme(look.scheme)
                .setViewportSize(look.width, look.height)
                .setJavaScriptEnabled(hasScripts));
    context.setDefaultTimeout(PATIENCE_MILLIS);
    var page = context.newPage();
    var complaints = new ArrayList<String>();
    page.onConsoleMessage(message -> complaints.add(message.type() + " " + message.text()));
    page.onPageError(complaints::add);
    page.onDialog(
        dialog -> {
          complaints.add("dialog " + dialog.message());
          dialog.dismiss();
        });
    var own = URI.create(host).getAuthority();
    page.onRequest(
        request -> {
          if (!own.equals(URI.create(request.url()).getAuthority())) {
            complaints.add("foreign request " + request.url());
          }
        });
    return new Tab(context, page, complaints);
  }

  @Override
  public void close() {
    chromium.close();
    playwright.close();
  }
}
