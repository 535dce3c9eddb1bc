package dev.sessionkeeper.github;

import dev.sessionkeeper.Payload;
import dev.sessionkeeper.github.ReadResult.Accepted;
import dev.sessionkeeper.github.ReadResult.Reason;
import dev.sessionkeeper.github.ReadResult.Refused;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Turns a request into an event, or names the reason for refusing it. Thread-safe.
 *
 * <p>The size is checked first and the signature second: a body is parsed only after it is known to
 * be authentic. Whatever a signed body contains, the answer is a {@link ReadResult} and never an
 * exception.
 */
public final class ReadDelivery {
  /** GitHub's own limit for a payload. */
  public static final int GITHUB_MAX_BODY = 25 * 1024 * 1024;

  // A type has no dot, because patterns separate the action with one.
  private static final Pattern EVENT = Pattern.compile("[A-Za-z0-9_-]{1,100}");
  private static final Pattern DELIVERY_ID = Pattern.compile("[A-Za-z0-9._:-]{1,100}");

  private static final int MOST_BODY = 1 << 30;
  private static final ReadFacts ANY_SIZE = new ReadFacts(NormaliseEvent.WANTED, MOST_BODY);

  private final GitHubSignature signature;
  private final int maxBody;
  private final ReadFacts facts;

  private ReadDelivery(GitHubSignature signature, int maxBody) {
    this.signature = signature;
    this.maxBody = maxBody;
    this.facts = new ReadFacts(NormaliseEvent.WANTED, maxBody);
  }

  /** Creates a reader for bodies up to {@link #GITHUB_MAX_BODY}. */
  public static ReadDelivery create(GitHubSignature signature) {
    return create(signature, GITHUB_MAX_BODY);
  }

  public static ReadDelivery create(GitHubSignature signature, int maxBody) {
    if (maxBody < 1 || maxBody > MOST_BODY) {
      throw new IllegalArgumentException("maxBody must be 1 to 1073741824 bytes, was " + maxBody);
    }
    return new ReadDelivery(signature, maxBody);
  }

  public ReadResult read(RawDelivery raw) {
    var refused = objectionTo(raw);
    return refused.isPresent() ? refused.get() : readBody(raw, facts);
  }

  /**
   * Reads a delivery as {@link #read} does, without verifying the signature: the delivery was
   * verified before it was stored.
   */
  public static ReadResult readAgain(RawDelivery kept) {
    var refused = objectionToHeaders(kept);
    return refused.isPresent() ? refused.get() : readBody(kept, ANY_SIZE);
  }

  private static ReadResult readBody(RawDelivery raw, ReadFacts facts) {
    if (isForm(raw)) {
      var json = FormBody.payload(raw.body());
      return json.isPresent()
          ? readJson(raw, json.get(), facts)
          : refused(Reason.MALFORMED_FORM, "A form has exactly one field payload, percent-encoded");
    }
    return readJson(raw, raw.body(), facts);
  }

  private static ReadResult readJson(RawDelivery raw, byte[] json, ReadFacts facts) {
    return switch (facts.read(json)) {
      case ReadFacts.Bad bad -> refused(bad.reason(), bad.explanation());
      case ReadFacts.Good good ->
          new Accepted(
              NormaliseEvent.of(
                  raw.event().orElseThrow(),
                  raw.deliveryId().orElseThrow(),
                  good.facts(),
                  Payload.stored(json, Payload.Form.JSON, "application/json")));
    };
  }

  private Optional<Refused> objectionTo(RawDelivery raw) {
    if (raw.body().length > maxBody) {
      return no(
          Reason.TOO_LARGE,
          "A body has at most " + maxBody + " bytes, this one has " + raw.body().length);
    }
    if (raw.signature().isEmpty()) {
      return no(Reason.NOT_SIGNED, "The header X-Hub-Signature-256 is missing");
    }
    if (!signature.verify(raw.body(), raw.signature().get())) {
      return no(
          Reason.WRONG_SIGNATURE,
          "The header X-Hub-Signature-256 does not belong to this body and any known secret");
    }
    return objectionToHeaders(raw);
  }

  private static Optional<Refused> objectionToHeaders(RawDelivery raw) {
    if (raw.event().isEmpty()) {
      return no(Reason.MISSING_EVENT, "The header X-GitHub-Event is missing");
    }
    if (!EVENT.matcher(raw.event().get()).matches()) {
      return no(
          Reason.INVALID_EVENT,
          "The header X-GitHub-Event has 1 to 100 letters, digits, '_' or '-'");
    }
    if (raw.deliveryId().isEmpty()) {
      return no(Reason.MISSING_DELIVERY_ID, "The header X-GitHub-Delivery is missing");
    }
    if (!DELIVERY_ID.matcher(raw.deliveryId().get()).matches()) {
      return no(
          Reason.INVALID_DELIVERY_ID,
          "The header X-GitHub-Delivery has 1 to 100 letters, digits, '.', ':', '_' or '-'");
    }
    if (!isForm(raw) && !isJson(raw)) {
      return no(
          Reason.UNSUPPORTED_CONTENT_TYPE,
          "The content type is application/json or application/x-www-form-urlencoded");
    }
    return Optional.empty();
  }

  private static boolean isForm(RawDelivery raw) {
    return mediaType(raw).equals("application/x-www-form-urlencoded");
  }

  private static boolean isJson(RawDelivery raw) {
    return mediaType(raw).equals("application/json") || mediaType(raw).endsWith("+json");
  }

  private static String mediaType(RawDelivery raw) {
    var type = raw.contentType().orElse("application/json");
    int parameters = type.indexOf(';');
    return (parameters < 0 ? type : type.substring(0, parameters)).strip().toLowerCase(Locale.ROOT);
  }

  private static Optional<Refused> no(Reason reason, String explanation) {
    return Optional.of(refused(reason, explanation));
  }

  private static Refused refused(Reason reason, String explanation) {
    return new Refused(reason, explanation);
  }
}
