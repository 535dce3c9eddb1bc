package dev.sessionkeeper.client.provider;

import java.util.Map;

/** The rules of the contract that the HTTP API cannot keep, each with its reason. */
final class NotOverHttp {
  static final Map<String, String> RULES =
      Map.of(
          "S-05",
              "the API has no renewal for a message of an unordered queue; sessions are renewed",
          "S-06", "the API has one retry: it counts an attempt, and the queue's limit applies",
          "D-01", "a settlement of the API has a reason and no error",
          "O-01", "the API's numbers of a queue lack waiting, parked and paused sessions",
          "O-03", "the API parks a session for an operator, and not by a settlement");

  private NotOverHttp() {}
}
