package dev.sessionkeeper.github;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.Limits;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.github.ReadResult.Accepted;
import dev.sessionkeeper.github.ReadResult.Reason;
import dev.sessionkeeper.github.ReadResult.Refused;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Whatever is sent, the answer is an event that every queue accepts, or a typed refusal. */
@Tag("slow")
class HostileDeliveriesTest {
  private static final int ROUNDS = 8_000;
  private static final List<String> EVENTS = List.copyOf(KnownEvents.types());
  private static final List<String> WANTED = List.copyOf(NormaliseEvent.WANTED);
  private static final List<Bot> BOTS =
      List.of(
          Bot.of("entity", Subscription.to(List.of("*")), OrderingScope.ENTITY),
          Bot.of("repository", Subscription.to(List.of("*")), OrderingScope.REPOSITORY)
              .withFormat(MessageFormat.ENVELOPE),
          Bot.of("joined", Subscription.to(List.of("*")).in(List.of("*/*")), OrderingScope.ENTITY)
              .withOrdering(new Ordering(OrderingScope.ENTITY, SessionKey.ID, true)),
          Bot.of("plain", Subscription.to(List.of("!push")), OrderingScope.NONE));

  @Test
  void wellFormedNonsenseBecomesAnEventThatEveryQueueTakes() {
    var random = random(1);
    int accepted = 0;
    for (int i = 0; i < ROUNDS; i++) {
      var json = object(random, 4);
      var read = Deliveries.READER.read(raw(random, json.getBytes(UTF_8), "application/json"));
      if (read instanceof Accepted ok) {
        accepted++;
        sendToEveryBot(ok.event());
      } else {
        assertThat(((Refused) read).reason())
            .describedAs(json)
            .isIn(Reason.INVALID_EVENT, Reason.INVALID_DELIVERY_ID);
      }
    }
    assertThat(accepted).isGreaterThan(ROUNDS / 2);
  }

  @Test
  void damagedPayloadsAreReadOrRefusedAndNothingElse() {
    var random = random(2);
    var examples = Deliveries.lines("octokit-examples.jsonl.gz");
    var outcomes = new EnumMap<Reason, Integer>(Reason.class);
    for (int i = 0; i < 3000; i++) {
      byte[] body = examples.get(random.nextInt(examples.size())).getBytes(UTF_8);
      body = java.util.Arrays.copyOf(body, random.nextInt(10) == 0 ? body.length / 2 : body.length);
      for (int hits = random.nextInt(4); hits > 0; hits--) {
        body[random.nextInt(body.length)] = (byte) random.nextInt();
      }
      var type = random.nextInt(5) == 0 ? "application/x-www-form-urlencoded" : "application/json";
      var read = Deliveries.READER.read(raw(random, body, type));
      if (read instanceof Refused refused) {
        outcomes.merge(refused.reason(), 1, Integer::sum);
      } else {
        sendToEveryBot(((Accepted) read).event());
      }
    }
    assertThat(outcomes)
        .containsKeys(Reason.MALFORMED_JSON, Reason.NOT_UTF_8, Reason.MALFORMED_FORM);
  }

  private static void sendToEveryBot(GitHubEvent event) {
    for (var bot : BOTS) {
      assertThat(bot.subscription().match(event).explanation()).isNotBlank();
      var message = new BuildMessage("t", Instant.EPOCH, 100).build(event, bot);
      Limits.DEFAULT.check(QueueName.of("q"), bot.ordering().mode(), List.of(message));
      assertThat(message.properties().values())
          .noneMatch(text -> text.isBlank() || text.chars().anyMatch(Character::isISOControl));
    }
  }

  private static RawDelivery raw(RandomGenerator random, byte[] body, String contentType) {
    var event = random.nextInt(10) == 0 ? text(random) : EVENTS.get(random.nextInt(EVENTS.size()));
    var id = random.nextInt(10) == 0 ? text(random) : Deliveries.ID;
    var signature = GitHubSignature.sign(Deliveries.SECRET, body);
    return new RawDelivery(
        Optional.of(event),
        Optional.of(id),
        Optional.of(signature),
        Optional.of(contentType),
        body);
  }

  /** Returns an object with the names that the reader looks for, and values of any type. */
  private static String object(RandomGenerator random, int depth) {
    var json = new StringBuilder("{");
    for (int n = random.nextInt(8); n > 0; n--) {
      var path = WANTED.get(random.nextInt(WANTED.size())).replace("[0]", "").split("\\.", -1);
      json.append(json.length() > 1 ? "," : "")
          .append('"')
          .append(path[random.nextInt(path.length)])
          .append("\":")
          .append(value(random, depth));
    }
    return json.append('}').toString();
  }

  private static String value(RandomGenerator random, int depth) {
    return switch (random.nextInt(depth > 0 ? 10 : 6)) {
      case 0 -> "null";
      case 1 -> random.nextBoolean() ? "true" : "false";
      case 2 -> Long.toString(random.nextLong());
      case 3 -> random.nextInt(100) + (random.nextBoolean() ? "" : "e" + random.nextInt(400));
      case 4 -> Integer.toString(1 + random.nextInt(999)) + "0".repeat(random.nextInt(60));
      case 5 -> quoted(text(random));
      case 6 -> "[" + value(random, depth - 1) + "," + value(random, depth - 1) + "]";
      case 7 -> "[]";
      default -> object(random, depth - 1);
    };
  }

  private static String quoted(String text) {
    var json = new StringBuilder("\"");
    text.chars().forEach(c -> json.append("\\u%04x".formatted(c)));
    return json.append('"').toString();
  }

  private static String text(RandomGenerator random) {
    var alphabet = "ab/.*!?_- \u0000\n\r\"\\'é日\ud83d\ude00\u202e\u007f%<";
    var text = new StringBuilder();
    int length = random.nextInt(20) == 0 ? random.nextInt(3000) : random.nextInt(12);
    for (int i = 0; i < length; i++) {
      text.append(alphabet.charAt(random.nextInt(alphabet.length())));
    }
    return random.nextInt(3) == 0 ? "acme/" + text : text.toString();
  }

  private static RandomGenerator random(long seed) {
    return RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
  }
}
