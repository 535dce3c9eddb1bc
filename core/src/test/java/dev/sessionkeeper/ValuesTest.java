package dev.sessionkeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ValuesTest {

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "-a", ".a", "a b", "a/b", "ä"})
  void queueNamesAreShortAndPlain(String name) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> QueueName.of(name))
        .withMessageContaining("1 to 80 letters");
  }

  @Test
  void queueNamesHaveUpTo80Characters() {
    assertThat(QueueName.of("q".repeat(80))).hasToString("q".repeat(80));
    assertThatIllegalArgumentException().isThrownBy(() -> QueueName.of("q".repeat(81)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "a\u0000b", "\ud800"})
  void messageIdsHaveNoControlCharacters(String id) {
    assertThatIllegalArgumentException().isThrownBy(() -> MessageId.of(id));
  }

  @Test
  void messageIdsHaveUpTo128Characters() {
    assertThat(MessageId.of("ä".repeat(128)).value()).hasSize(128);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> MessageId.of("m".repeat(129)))
        .withMessageContaining("of length 129");
  }

  @Test
  void idsMadeTogetherAreDifferentAndNeighbours() {
    var before = Instant.now().minusSeconds(1);
    var ids = Stream.generate(MessageId::random).limit(10_000).map(MessageId::value).toList();
    assertThat(ids).doesNotHaveDuplicates();
    assertThat(ids)
        .allSatisfy(
            id -> {
              var uuid = UUID.fromString(id);
              assertThat(uuid.version()).isEqualTo(7);
              assertThat(uuid.variant()).isEqualTo(2);
              assertThat(Instant.ofEpochMilli(uuid.getMostSignificantBits() >>> 16))
                  .isBetween(before, Instant.now().plusSeconds(1));
            });
  }

  @Test
  void refusalsShowTheValueShortAndPrintable() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> QueueName.of("x y\n" + "z".repeat(100)))
        .withMessageContaining("\"x y?zzz")
        .withMessageContaining("…\"");
  }

  @Test
  void ownersHaveNames() {
    assertThatIllegalArgumentException().isThrownBy(() -> Owner.of("\n"));
    assertThat(Owner.unique("node").name()).startsWith("node-").hasSize("node-".length() + 8);
    assertThat(Owner.unique("node")).isNotEqualTo(Owner.unique("node"));
  }

  @Test
  void leasesCountEpochsFromOne() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Lease("r", Owner.of("o"), 0, Instant.EPOCH))
        .withMessage("epoch must be at least 1, was 0");
    var lease = new Lease("r", Owner.of("o"), 3, Instant.EPOCH);
    assertThat(lease.until(Instant.EPOCH.plusSeconds(5)))
        .isEqualTo(new Lease("r", Owner.of("o"), 3, Instant.EPOCH.plusSeconds(5)));
  }

  @Test
  void payloadsKeepTheirFormAndAreNotChangedFromOutside() {
    var bytes = "abc".getBytes(StandardCharsets.UTF_8);
    var payload = Payload.bytes(bytes, "application/octet-stream");
    bytes[0] = 'x';
    payload.toBytes()[1] = 'x';

    assertThat(payload.asText()).isEqualTo("abc");
    assertThat(payload).isEqualTo(Payload.bytes(payload.toBytes(), "application/octet-stream"));
    assertThat(payload).isNotEqualTo(Payload.text("abc"));
    assertThat(Payload.json("{}").form()).isEqualTo(Payload.Form.JSON);
    assertThat(Payload.empty().size()).isZero();
  }

  @Test
  void messagesAreCopiedNotChanged() {
    var message = Message.of(SessionId.of("s"), Payload.text("x"));

    var changed =
        message
            .withId(MessageId.of("m-1"))
            .withProperty("a", "1")
            .withTtl(Duration.ofSeconds(5))
            .notBefore(Instant.EPOCH);

    assertThat(message.properties()).isEmpty();
    assertThat(message.ttl()).isEmpty();
    assertThat(changed.id()).isEqualTo(MessageId.of("m-1"));
    assertThat(changed.properties()).containsEntry("a", "1");
    assertThat(changed.ttl()).contains(Duration.ofSeconds(5));
    assertThat(changed.notBefore()).contains(Instant.EPOCH);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> message.withTtl(Duration.ZERO))
        .withMessage("ttl must be longer than zero, was PT0S");
  }

  @Test
  void statesCompareByContentAndAreBounded() {
    assertThat(new SessionState(new byte[] {1}, 2)).isEqualTo(new SessionState(new byte[] {1}, 2));
    assertThat(new SessionState(new byte[] {1}, 2))
        .isNotEqualTo(new SessionState(new byte[] {2}, 2));
    assertThat(SessionState.none().version()).isZero();
    assertThatThrownBy(() -> new SessionState.Write(new byte[SessionState.MAX_BYTES + 1], 0))
        .isInstanceOfSatisfying(
            KeeperException.LimitExceeded.class,
            e -> {
              assertThat(e.limit()).isEqualTo("maxStateBytes");
              assertThat(e.allowed()).isEqualTo(SessionState.MAX_BYTES);
              assertThat(e.actual()).isEqualTo(SessionState.MAX_BYTES + 1);
            });
  }

  @Test
  void retriesHaveADelayThatIsNotNegative() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Settlement.retryAfter(Duration.ofMillis(-1)))
        .withMessage("delay must not be negative, was PT-0.001S");
  }

  @Test
  void aPageTellsWhetherTheListGoesOn() {
    assertThat(Page.of(List.of(1, 2), 2, i -> "behind " + i))
        .isEqualTo(new Page<>(List.of(1, 2), Optional.empty()));
    assertThat(Page.of(List.of(1, 2, 3), 2, i -> "behind " + i))
        .isEqualTo(new Page<>(List.of(1, 2), Optional.of("behind 2")));
  }

  @Test
  void aPageHasOneTo1000Items() {
    assertThat(Page.Request.first(1000).cursor()).isEmpty();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Page.Request.first(1001))
        .withMessage("limit must be 1 to 1000, was 1001");
    assertThatIllegalArgumentException().isThrownBy(() -> Page.Request.first(0));
  }
}
