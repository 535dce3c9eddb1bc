package dev.sessionkeeper.server.gateway;

import static dev.sessionkeeper.server.gateway.GatewayServer.pull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.github.BindBots;
import dev.sessionkeeper.github.Bot;
import dev.sessionkeeper.github.BoundBots;
import dev.sessionkeeper.memory.MemoryQueueProvider;
import dev.sessionkeeper.spi.DeadLetter;
import dev.sessionkeeper.testkit.SettableClock;
import dev.sessionkeeper.tracing.TraceMessages;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.json.JsonMapper;

/** An endpoint that is down for a while, by a clock that the test moves. */
@Timeout(120)
class PushOutageTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final Duration DEPLOY = Duration.ofMinutes(20);
  private static final Duration STEP = Duration.ofSeconds(1);
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private final SettableClock clock = SettableClock.create();
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();

  private static Bot bot(Receiver receiver, Map<String, Object> more) {
    var values = new HashMap<String, Object>(more);
    values.put("name", "deployed");
    // A request in flight must not time out because the clock is moved.
    values.put(
        "deliver", Map.of("url", receiver.url(), "timeout", "10m", "allow_private_targets", true));
    var bound = BindBots.bind(Map.of("bots", List.of(values)), UnaryOperator.identity());
    return ((BoundBots.Valid) bound).bots().getFirst();
  }

  private MemoryQueueProvider queueOf(Bot bot, int sessions, int steps) {
    var queues = MemoryQueueProvider.create(clock);
    queues.declare(bot.queue(), bot.queueSettings());
    for (int step = 0; step < steps; step++) {
      for (int number = 1; number <= sessions; number++) {
        queues.send(
            bot.queue(),
            List.of(
                Message.of(
                        SessionId.of("acme/app/pull_request/" + number),
                        Payload.json(pull("acme/app", number, step)))
                    .withId(MessageId.of(number + "-" + step))));
      }
    }
    return queues;
  }

  private PushBot serve(Bot bot, MemoryQueueProvider queues) {
    return PushBot.start(
        bot,
        bot.deliver().orElseThrow(),
        queues,
        new BotMeters(bot, meters),
        TraceMessages.none(),
        new Outages(clock, Optional.empty()),
        clock);
  }

  private static List<DeadLetter> letters(MemoryQueueProvider queues, Bot bot) {
    return queues.deadLetters(bot.queue(), Optional.empty(), Page.Request.first(100)).items();
  }

  /** Moves the clock in steps, each of which lets at least one more request out. */
  private void pass(Duration time, Receiver receiver) {
    var end = clock.instant().plus(time);
    while (clock.instant().isBefore(end)) {
      int before = receiver.posts.size();
      passUntil(() -> receiver.posts.size() > before);
    }
  }

  private void passUntilEmpty(MemoryQueueProvider queues, Bot bot) {
    passUntil(() -> queues.stats(bot.queue()).depth() == 0);
  }

  private void passUntil(BooleanSupplier reached) {
    await()
        .atMost(PATIENCE)
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(5))
        .until(
            () -> {
              clock.advance(STEP);
              return reached.getAsBoolean();
            });
  }

  @Test
  void anEndpointThatIsDownForTwentyMinutesCostsNoMessageAndNoOrder() throws Exception {
    var down = new AtomicBoolean(true);
    var count = new AtomicInteger();
    var statuses = List.of(0, 500, 502, 503, 429);
    var delivered = new ArrayList<Receiver.Post>();
    try (var receiver =
        new Receiver(
            post -> {
              if (down.get()) {
                return Receiver.Answer.of(statuses.get(count.getAndIncrement() % 5));
              }
              synchronized (delivered) {
                delivered.add(post);
              }
              return Receiver.Answer.of(200);
            })) {
      var bot = bot(receiver, Map.of("max_delivery_count", 2));
      try (var queues = queueOf(bot, 30, 3);
          var pushed = serve(bot, queues)) {
        await().atMost(PATIENCE).until(() -> !receiver.posts.isEmpty());
        pass(DEPLOY, receiver);
        assertThat(receiver.posts).hasSizeGreaterThan(40);
        assertThat(letters(queues, bot)).isEmpty();
        assertThat(queues.stats(bot.queue()).depth()).isEqualTo(90);

        down.set(false);
        passUntilEmpty(queues, bot);

        assertThat(letters(queues, bot)).isEmpty();
        assertInOrder(delivered, 30);
        assertThat(receiver.posts).extracting(Receiver.Post::attempt).contains(1, 2, 3);
      }
    }
  }

  private static void assertInOrder(List<Receiver.Post> delivered, int sessions) {
    var steps = new HashMap<String, List<Integer>>();
    delivered.forEach(
        post ->
            steps
                .computeIfAbsent(post.session(), session -> new ArrayList<>())
                .add(MAPPER.readTree(post.body()).get("step").asInt()));
    assertThat(steps).hasSize(sessions);
    assertThat(steps.values()).allSatisfy(its -> assertThat(its).containsExactly(0, 1, 2));
  }

  @Test
  void aMessageIsGivenUpOnceTheEndpointWasOutOfOrderForLongEnough() throws Exception {
    try (var receiver =
        new Receiver(
            post ->
                Receiver.Answer.of(
                    MAPPER.readTree(post.body()).get("step").asInt() == 0 ? 500 : 200))) {
      var bot = bot(receiver, Map.of("retry", Map.of("first", "1s", "max", "10s", "for", "2m")));
      try (var queues = queueOf(bot, 1, 2);
          var pushed = serve(bot, queues)) {
        passUntilEmpty(queues, bot);
        assertThat(letters(queues, bot))
            .singleElement()
            .satisfies(
                letter -> {
                  assertThat(letter.reason()).isEqualTo("The endpoint was out of order for 2m");
                  assertThat(letter.lastError()).contains("500");
                });
        assertThat(receiver.posts).hasSizeGreaterThan(6);
      }
    }
  }

  @Test
  void anAnswerThatBlamesTheMessageUsesUpItsAttempts() throws Exception {
    try (var receiver =
        new Receiver(
            post ->
                Receiver.Answer.of(
                    MAPPER.readTree(post.body()).get("step").asInt() == 0 ? 422 : 200))) {
      var bot = bot(receiver, Map.of("max_delivery_count", 3));
      try (var queues = queueOf(bot, 1, 2);
          var pushed = serve(bot, queues)) {
        passUntilEmpty(queues, bot);
        assertThat(letters(queues, bot))
            .singleElement()
            .satisfies(letter -> assertThat(letter.attempts()).isEqualTo(3));
        assertThat(receiver.posts).hasSize(4);
      }
    }
  }
}
