package dev.sessionkeeper.cli.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.List;
import java.util.stream.IntStream;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * The events of many pull requests as GitHub sends them: events of four types, all of one session
 * per pull request.
 */
final class GitHubBurst {
  /** The number of an event in its pull request; GitHub's own payloads have no such field. */
  static final String STEP = "demo_step";

  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final String REPOSITORY = "acme/shop";
  private static final int FIRST = 100;

  /** The events of one pull request, in this order. Events beyond the list are further commits. */
  private static final List<String> LIFE =
      List.of(
          "pull_request.opened",
          "pull_request.labeled",
          "pull_request.review_requested",
          "issue_comment.created",
          "pull_request_review.submitted",
          "pull_request_review_comment.created",
          "pull_request.synchronize",
          "issues.milestoned",
          "pull_request_review.submitted",
          "pull_request.closed");

  private GitHubBurst() {}

  /** One delivery. */
  record Delivery(String type, String id, byte[] payload) {}

  static List<String> sessions(int pulls) {
    return IntStream.range(0, pulls).mapToObj(i -> session(FIRST + i)).toList();
  }

  static String session(int number) {
    return REPOSITORY + "/pull_request/" + number;
  }

  /**
   * Returns the next event of a pull request.
   *
   * @param run makes delivery ids unique to each run of the demo
   */
  static Delivery delivery(String run, int pull, int step) {
    var name = step < LIFE.size() ? LIFE.get(step) : "pull_request.synchronize";
    var type = name.substring(0, name.indexOf('.'));
    int number = FIRST + pull;
    var payload = JSON.createObjectNode();
    payload.put("action", name.substring(type.length() + 1));
    payload.put(STEP, step);
    if (type.startsWith("issue")) {
      // GitHub reports a pull request as an issue when it is commented or milestoned.
      var issue = payload.putObject("issue");
      describe(issue, number);
      issue.putObject("pull_request").put("url", api("pulls/" + number));
    } else {
      payload.put("number", number);
      describe(payload.putObject("pull_request"), number);
    }
    var repository = payload.putObject("repository");
    repository.put("id", 1296269).put("name", "shop").put("full_name", REPOSITORY);
    repository.putObject("owner").put("login", "acme").put("id", 7);
    payload.putObject("sender").put("login", "octocat").put("id", 1);
    return new Delivery(type, run + "-" + number + "-" + step, payload.toString().getBytes(UTF_8));
  }

  private static void describe(ObjectNode of, int number) {
    of.put("id", 900_000 + number).put("number", number);
    of.put("title", "Make the shop faster, part " + number);
    of.put("html_url", "https://github.com/" + REPOSITORY + "/pull/" + number);
    of.put("url", api("issues/" + number))
        .put("comments_url", api("issues/" + number + "/comments"));
    of.put("body", "The shop was slow. ".repeat(20));
    of.putObject("user").put("login", "octocat").put("id", 1).put("type", "User");
  }

  private static String api(String path) {
    return "https://api.github.com/repos/" + REPOSITORY + "/" + path;
  }
}
