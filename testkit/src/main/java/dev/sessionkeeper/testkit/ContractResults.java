package dev.sessionkeeper.testkit;

import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The results of the tests of each rule, for one provider. */
final class ContractResults {
  // One rule per line, exactly as toJson writes it.
  private static final Pattern LINE =
      Pattern.compile(
          "\\s*\"(?<rule>[A-Z]-[0-9]+[a-z]?)\": \\{\"passed\": (?<passed>[0-9]+), \"failed\":"
              + " (?<failed>[0-9]+), \"skipped\": (?<skipped>[0-9]+), \"reason\":"
              + " \"(?<reason>.*)\"},?");
  private static final Pattern NAME = Pattern.compile("\\s*\"provider\": \"(?<name>.*)\",");

  private final Map<String, RuleResult> rules = new TreeMap<>();
  private String name = "unknown";

  synchronized String name() {
    return name;
  }

  synchronized void name(String newName) {
    name = newName;
  }

  synchronized Map<String, RuleResult> rules() {
    return new TreeMap<>(rules);
  }

  synchronized void passed(String rule) {
    rules.merge(rule, new RuleResult(1, 0, 0, ""), RuleResult::plus);
  }

  synchronized void failed(String rule) {
    rules.merge(rule, new RuleResult(0, 1, 0, ""), RuleResult::plus);
  }

  synchronized void skipped(String rule, String reason) {
    rules.merge(rule, new RuleResult(0, 0, 1, reason), RuleResult::plus);
  }

  synchronized String toJson() {
    return rules.entrySet().stream()
        .map(entry -> "    \"%s\": %s".formatted(entry.getKey(), entry.getValue().toJson()))
        .collect(
            Collectors.joining(
                ",\n", "{\n  \"provider\": \"" + name + "\",\n  \"rules\": {\n", "\n  }\n}\n"));
  }

  static ContractResults parse(String json) {
    var results = new ContractResults();
    json.lines()
        .forEach(
            line -> {
              var named = NAME.matcher(line);
              var rule = LINE.matcher(line);
              if (named.matches()) {
                results.name(named.group("name"));
              } else if (rule.matches()) {
                results.rules.put(
                    rule.group("rule"),
                    new RuleResult(
                        Integer.parseInt(rule.group("passed")),
                        Integer.parseInt(rule.group("failed")),
                        Integer.parseInt(rule.group("skipped")),
                        rule.group("reason")));
              }
            });
    if (results.rules.isEmpty()) {
      throw new IllegalArgumentException("Not a file of contract results: " + json);
    }
    return results;
  }

  /**
   * The results of the tests of one rule.
   *
   * @param reason the first reason why tests were skipped
   */
  record RuleResult(int passed, int failed, int skipped, String reason) {
    RuleResult plus(RuleResult other) {
      return new RuleResult(
          passed + other.passed,
          failed + other.failed,
          skipped + other.skipped,
          reason.isEmpty() ? other.reason : reason);
    }

    String toJson() {
      var plain = reason.replaceAll("[\"\\\\\\p{Cntrl}]", " ");
      return "{\"passed\": %d, \"failed\": %d, \"skipped\": %d, \"reason\": \"%s\"}"
          .formatted(passed, failed, skipped, plain);
    }
  }
}
