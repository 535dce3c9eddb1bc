package dev.sessionkeeper.github;

/** The result of reading a webhook delivery. */
public sealed interface ReadResult {
  /** The delivery is signed and well-formed. */
  record Accepted(GitHubEvent event) implements ReadResult {}

  /**
   * The delivery must not be stored.
   *
   * @param explanation one sentence for the sender; reveals only the length of the body
   */
  record Refused(Reason reason, String explanation) implements ReadResult {}

  /** The reasons for refusing a delivery, each with the HTTP status of the answer. */
  enum Reason {
    TOO_LARGE(413),
    NOT_SIGNED(401),
    WRONG_SIGNATURE(401),
    MISSING_EVENT(400),
    INVALID_EVENT(400),
    MISSING_DELIVERY_ID(400),
    INVALID_DELIVERY_ID(400),
    UNSUPPORTED_CONTENT_TYPE(415),
    MALFORMED_FORM(400),
    NOT_UTF_8(400),
    MALFORMED_JSON(400),
    TOO_COMPLEX(400),
    NOT_AN_OBJECT(400);

    private final int status;

    Reason(int status) {
      this.status = status;
    }

    public int status() {
      return status;
    }
  }
}
