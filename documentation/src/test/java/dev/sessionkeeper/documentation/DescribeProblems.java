package dev.sessionkeeper.documentation;

import dev.sessionkeeper.server.http.ProblemType;
import java.util.Arrays;
import java.util.stream.Collectors;

/** Writes the reference page of the problem types of the HTTP API. */
final class DescribeProblems {
  private DescribeProblems() {}

  static String page() {
    return """
    # Problems

    Every refusal and failure of the HTTP API is an `application/problem+json` document (RFC 9457). Branch on `type`, never on the text. `type` is
    `https://sessionkeeper.dev/problems/` and the name below; it never changes its meaning. `correlationId` finds the request in the log. A problem
    about bad input lists up to 20 wrong fields in `errors[]`, each with `field` and `reason`. `code` is the [error code](errors.md), if the runtime refused.

    | type | status | title | what to do |
    |---|---|---|---|
    """
        + Arrays.stream(ProblemType.values())
            .map(
                type ->
                    "| `%s` | %d | %s | %s |%n"
                        .formatted(type.slug(), type.status(), type.title(), type.advice()))
            .collect(Collectors.joining());
  }
}
