package dev.sessionkeeper.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.cli.DescribeCommands;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Every alert has a section in the runbook, and every section an alert. */
class RunbookTest {
  private static final Path OPS = Manual.ROOT.resolve("ops");
  private static final Pattern ALERT = Pattern.compile("- alert: (\\w+)");
  private static final Pattern SECTION = Pattern.compile("(?m)^## (Keeper\\w+)$");
  private static final Pattern SCREEN =
      Pattern.compile("\\*\\*Screen:\\*\\* \\[`(/[^`]*)`]\\(http://127\\.0\\.0\\.1:8080\\1\\)");
  private static final Pattern COMMAND = Pattern.compile("`keeper ([^`]+)`");

  /** Returns the text of each alert's rule, by name. */
  private static Map<String, String> alerts() throws IOException {
    var rules = new TreeMap<String, String>();
    try (var files = Files.list(OPS)) {
      for (var file : files.filter(f -> f.toString().endsWith("-alerts.yml")).toList()) {
        for (var rule : Files.readString(file).split("(?=      - alert: )", -1)) {
          var name = ALERT.matcher(rule);
          if (name.find()) {
            rules.put(name.group(1), rule);
          }
        }
      }
    }
    return rules;
  }

  private static Map<String, String> sections() throws IOException {
    var sections = new TreeMap<String, String>();
    var page = Files.readString(Manual.DOCS.resolve("how-to").resolve("runbook.md"));
    for (var part : page.split("(?m)(?=^## )", -1)) {
      var name = SECTION.matcher(part);
      if (name.find()) {
        sections.put(name.group(1), part);
      }
    }
    return sections;
  }

  @Test
  void everyAlertHasASectionAndEverySectionAnAlert() throws IOException {
    assertThat(alerts()).hasSizeGreaterThan(30);
    assertThat(sections().keySet()).isEqualTo(alerts().keySet());
  }

  @Test
  void everyAlertLeadsToItsSectionAndSaysWhatToDo() throws IOException {
    alerts()
        .forEach(
            (name, rule) ->
                assertThat(rule)
                    .contains("runbook.md#" + name.toLowerCase(Locale.ROOT) + "\"")
                    .contains("summary: ")
                    .contains("action: "));
  }

  @Test
  void everySectionNamesAScreenAndOnlyCommandsThatExist() throws IOException {
    sections()
        .forEach(
            (name, text) -> {
              assertThat(SCREEN.matcher(text).find()).as(name + " and its screen").isTrue();
              assertThat(text).as(name).contains("- **Command:** `keeper ");
              assertThat(COMMAND.matcher(text).results().map(command -> command.group(1)))
                  .allSatisfy(
                      command ->
                          assertThat(DescribeCommands.complaint(command.split(" ", -1)))
                              .as(name + ": keeper " + command)
                              .isEmpty());
            });
  }

  @Test
  void everyAlertIsTestedWithOneServerAndWithThree() throws IOException {
    var tests = new StringBuilder();
    try (var files = Files.list(OPS.resolve("tests"))) {
      for (var file : files.toList()) {
        tests.append(Files.readString(file));
      }
    }
    assertThat(
            alerts().keySet().stream()
                .flatMap(
                    name ->
                        java.util.stream.Stream.of(
                            "name: " + name + ", one server, all is well\n",
                            "name: " + name + ", one server\n",
                            "name: " + name + ", three servers, one alert\n"))
                .collect(Collectors.toList()))
        .allSatisfy(test -> assertThat(tests).contains(test));
  }
}
