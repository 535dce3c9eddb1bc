package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.github.PushTarget;
import dev.sessionkeeper.processor.MessageHandler;
import dev.sessionkeeper.processor.SessionContext;
import dev.sessionkeeper.time.TimeSource;
import dev.sessionkeeper.webhook.WebhookRequest;
import dev.sessionkeeper.webhook.WebhookResult;
import dev.sessionkeeper.webhook.WebhookSender;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Posts the messages of one bot to its endpoint.
 *
 * <p>2xx completes the message, 410 dead-letters it. No answer, 5xx, 408, 425 and 429 mean that the
 * endpoint is down: the message is postponed, for as long as the endpoint asks or by the bot's
 * schedule, and no attempt is counted. Any other status counts as a failed attempt of the message.
 */
final class PushMessages implements MessageHandler {
  private static final int GONE = 410;
  // Request Timeout, Too Early, Too Many Requests.
  private static final Set<Integer> NOT_NOW = Set.of(408, 425, 429);
  private static final int MAX_HEADER = 4096;
  private static final int MAX_ANSWER = 300;

  private final WebhookSender sender;
  private final Breaker breaker;
  private final BotMeters meters;
  private final SettleOutage outage;
  private final TimeSource time;
  private volatile PushTarget target;

  PushMessages(
      PushTarget target,
      WebhookSender sender,
      Breaker breaker,
      SettleOutage outage,
      BotMeters meters,
      TimeSource time) {
    this.target = target;
    this.outage = outage;
    this.sender = sender;
    this.breaker = breaker;
    this.meters = meters;
    this.time = time;
  }

  /** Changes the target, from the next request on. */
  void redirect(PushTarget other) {
    target = other;
  }

  @Override
  public Settlement handle(Delivery delivery, SessionContext session) throws Exception {
    if (!breaker.await()) {
      return Settlement.postpone(breaker.pause(), "The endpoint has not answered for long");
    }
    long started = time.nanoTime();
    WebhookResult result;
    try {
      result = sender.post(request(delivery, target));
    } catch (RuntimeException e) {
      breaker.withdraw();
      throw e;
    }
    breaker.record(result);
    meters.pushed(outcomeOf(result), time.since(started));
    return settle(result, delivery);
  }

  private Settlement settle(WebhookResult result, Delivery delivery) throws PushFailed {
    if (!isOutage(result)) {
      outage.answered(delivery);
    }
    return switch (result) {
      case WebhookResult.Delivered delivered -> {
        outage.over(delivery);
        yield Settlement.complete();
      }
      case WebhookResult.Refused refused -> settleRefused(refused, delivery);
      case WebhookResult.Unreachable no ->
          outage.settle(delivery, "The endpoint did not answer: " + no.reason(), Optional.empty());
      case WebhookResult.Forbidden no ->
          throw new PushFailed("The endpoint is not called: " + no.reason());
    };
  }

  private Settlement settleRefused(WebhookResult.Refused refused, Delivery delivery)
      throws PushFailed {
    var what = "The endpoint answered " + refused.status();
    if (refused.status() == GONE) {
      outage.over(delivery);
      return Settlement.deadLetter(what + " Gone", shortened(refused.answer()));
    }
    var error = refused.answer().isBlank() ? what : what + ": " + shortened(refused.answer());
    if (isOutage(refused)) {
      return outage.settle(delivery, error, refused.retryAfter());
    }
    throw new PushFailed(error);
  }

  /** Returns whether the endpoint is down, whatever the message is. */
  private static boolean isOutage(WebhookResult result) {
    return switch (result) {
      case WebhookResult.Unreachable no -> true;
      case WebhookResult.Refused refused ->
          refused.status() >= 500 || NOT_NOW.contains(refused.status());
      case WebhookResult.Delivered delivered -> false;
      case WebhookResult.Forbidden no -> false;
    };
  }

  /** Returns whether the endpoint answers and says when to try again. */
  static boolean asksToWait(WebhookResult.Refused refused) {
    return isOutage(refused) && refused.retryAfter().isPresent();
  }

  /** All results of {@link #outcomeOf}. */
  static final List<String> OUTCOMES =
      List.of("delivered", "gone", "asked_to_wait", "refused", "unreachable", "forbidden");

  private static String outcomeOf(WebhookResult result) {
    return switch (result) {
      case WebhookResult.Delivered delivered -> "delivered";
      case WebhookResult.Refused refused ->
          refused.status() == GONE ? "gone" : asksToWait(refused) ? "asked_to_wait" : "refused";
      case WebhookResult.Unreachable no -> "unreachable";
      case WebhookResult.Forbidden no -> "forbidden";
    };
  }

  private WebhookRequest request(Delivery delivery, PushTarget target) {
    var message = delivery.message();
    return new WebhookRequest(
        target.url(),
        message.id().value(),
        message.payload().unsafeBytes(),
        message.payload().contentType(),
        headers(delivery, target),
        target.signature(),
        target.timeout(),
        target.guard());
  }

  private Map<String, String> headers(Delivery delivery, PushTarget target) {
    var message = delivery.message();
    var headers = new LinkedHashMap<String, String>();
    // The receiver sees the number of posts, including those during outages, which are no attempts
    // for the poison policy.
    int post = delivery.attempt() + outage.postsWithoutAttempt(delivery);
    headers.put("Keeper-Attempt", Integer.toString(post));
    message.session().map(SessionId::value).ifPresent(id -> putSession(id, headers));
    copy(message.properties(), "event_type", headers, "X-GitHub-Event");
    copy(message.properties(), "github_delivery_id", headers, "X-GitHub-Delivery");
    copy(message.properties(), "correlation_id", headers, "Keeper-Event-Id");
    Optional.ofNullable(message.properties().get(TraceContext.NAME))
        .flatMap(TraceContext::parse)
        .ifPresent(trace -> headers.put(TraceContext.NAME, trace.next().toString()));
    for (var hook : HookHeaders.values()) {
      hook.in(message).ifPresent(value -> put(headers, hook.header(), value));
    }
    target
        .asGitHub()
        .map(by -> by.sign(message.payload().unsafeBytes()))
        .ifPresent(signed -> headers.put(HookHeaders.SIGNATURE.header(), signed));
    return headers;
  }

  /**
   * A header takes printable ASCII only: any other id is escaped, and the name of its header says
   * so.
   */
  private static void putSession(String id, Map<String, String> headers) {
    if (id.chars().allMatch(c -> c >= 0x20 && c < 0x7f)) {
      headers.put("Keeper-Session-Id", id);
    } else {
      var escaped = URLEncoder.encode(id, StandardCharsets.UTF_8).replace("+", "%20");
      headers.put("Keeper-Session-Id-Escaped", escaped);
    }
  }

  private static void copy(
      Map<String, String> properties, String property, Map<String, String> headers, String name) {
    Optional.ofNullable(properties.get(property)).ifPresent(value -> put(headers, name, value));
  }

  /** Any sender may use a bot's queue through the API, but a header takes printable ASCII only. */
  private static void put(Map<String, String> headers, String name, String value) {
    if (value.length() <= MAX_HEADER && value.chars().allMatch(c -> c >= 0x20 && c < 0x7f)) {
      headers.put(name, value);
    }
  }

  private static String shortened(String answer) {
    return answer.length() <= MAX_ANSWER ? answer : answer.substring(0, MAX_ANSWER) + "…";
  }
}
