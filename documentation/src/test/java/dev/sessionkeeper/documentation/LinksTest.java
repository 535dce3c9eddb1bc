package dev.sessionkeeper.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every link has a target, and every page can be reached from the index. */
class LinksTest {
  @Test
  void everyLinkLeadsToAFileAndAHeading() {
    assertThat(Manual.pages().stream().flatMap(page -> broken(page).stream())).isEmpty();
  }

  @Test
  void everyPageIsReachedFromTheIndex() {
    var all =
        Manual.pages().stream()
            .map(Page::file)
            .filter(file -> file.startsWith(Manual.DOCS))
            .collect(Collectors.toCollection(TreeSet::new));
    all.removeAll(reachable(Manual.INDEX));
    assertThat(all).as("pages without a link").isEmpty();
  }

  @Test
  void aBrokenLinkIsSeen(@TempDir Path folder) throws Exception {
    var page = folder.resolve("page.md");
    Files.writeString(
        page, "# A heading\n[a](#a-heading) [b](#none) [c](none.md) [d](https://example.org)\n");
    assertThat(broken(Page.read(page))).hasSize(2);
  }

  private static List<String> broken(Page page) {
    var broken = new ArrayList<String>();
    for (var link : page.links()) {
      if (!isExternal(link) && !leadsSomewhere(page, link)) {
        broken.add(page.file() + ": " + link);
      }
    }
    return broken;
  }

  private static boolean leadsSomewhere(Page from, String link) {
    var parts = link.split("#", 2);
    var target = parts[0].isEmpty() ? from.file() : resolve(from.file(), parts[0]);
    if (!Files.exists(target)) {
      return false;
    }
    return parts.length == 1
        || !target.toString().endsWith(".md")
        || Page.read(target).anchors().contains(parts[1]);
  }

  private static Set<Path> reachable(Path start) {
    var seen = new HashSet<Path>();
    var open = new ArrayDeque<>(List.of(start));
    while (!open.isEmpty()) {
      var file = open.pop();
      if (seen.add(file)) {
        for (var link : Page.read(file).links()) {
          var target = resolve(file, link.split("#", 2)[0]);
          if (!isExternal(link) && target.toString().endsWith(".md") && Files.exists(target)) {
            open.push(target);
          }
        }
      }
    }
    return seen;
  }

  private static Path resolve(Path from, String link) {
    return link.isEmpty() || isExternal(link) ? from : from.resolveSibling(link).normalize();
  }

  private static boolean isExternal(String link) {
    return link.matches("[a-z]+:.*");
  }
}
