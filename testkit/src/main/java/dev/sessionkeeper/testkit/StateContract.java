package dev.sessionkeeper.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import dev.sessionkeeper.KeeperException.LimitExceeded;
import dev.sessionkeeper.KeeperException.OutOfOrder;
import dev.sessionkeeper.KeeperException.StaleState;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.HeldSession.Settled;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The state of a session: S-09. */
public abstract class StateContract extends SettlingContract {

  @Test
  @ContractRule("S-09")
  void aSessionBeginsWithoutState() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1");
    try (var session = accepted()) {
      assertThat(session.state()).isEqualTo(SessionState.none());
    }
  }

  @Test
  @ContractRule("S-09")
  void stateOutlivesTheHoldAndTheEmptiness() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1");
    SessionState written;
    try (var session = accepted()) {
      written = session.writeState(write("seen a1", 0));
      complete(session, received(session));
    }
    sent("b", "b1");
    sent("a", "a2");
    try (var session = accepted();
        var other = accepted()) {
      boolean isA = session.id().value().equals("a");
      var ofA = isA ? session : other;
      var ofB = isA ? other : session;
      assertThat(ofA.state()).isEqualTo(written);
      assertThat(text(ofA.state())).isEqualTo("seen a1");
      assertThat(ofB.state()).isEqualTo(SessionState.none());
      assertThat(provider().sessions(queue()).states(List.of(session, other)))
          .containsOnly(entry(ofA.id(), written), entry(ofB.id(), SessionState.none()));
    }
  }

  @Test
  @ContractRule("S-09")
  void everyWriteHasANewVersionAndAStaleOneIsRefused() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1");
    try (var session = accepted()) {
      var first = session.writeState(write("one", 0));
      var second = session.writeState(write("two", first.version()));
      assertThat(second.version()).isGreaterThan(first.version());

      assertThatThrownBy(() -> session.writeState(write("late", first.version())))
          .isInstanceOf(StaleState.class);
      assertThat(session.state()).isEqualTo(second);

      var third = session.writeState(write("three", SessionState.ANY_VERSION));
      assertThat(text(session.state())).isEqualTo("three");
      assertThat(third.version()).isGreaterThan(second.version());
    }
  }

  @Test
  @ContractRule("S-09")
  void stateIsWrittenTogetherWithASettlement() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1", "a2");
    try (var session = accepted()) {
      long sequence = received(session).sequence();
      finished(
          session.settle(
              List.of(new Settled(sequence, Settlement.complete())), write("seen a1", 0)));
    }
    try (var session = accepted()) {
      assertThat(bodyOf(received(session))).isEqualTo("a2");
      assertThat(text(session.state())).isEqualTo("seen a1");
    }
  }

  @Test
  @ContractRule("S-09")
  void aStaleStateRefusesItsSettlementToo() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1");
    try (var session = accepted()) {
      var current = session.writeState(write("one", 0));
      var settlement = List.of(new Settled(received(session).sequence(), Settlement.complete()));

      assertThatThrownBy(() -> finished(session.settle(settlement, write("stale", 0))))
          .isInstanceOf(StaleState.class);
      assertThat(session.state()).isEqualTo(current);
    }
    assertThat(drained()).containsExactly("a1");
  }

  @Test
  @ContractRule("S-09")
  void aRefusedSettlementRefusesItsStateToo() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1", "a2");
    try (var session = accepted()) {
      var batch = received(session, 2);
      var settlement = List.of(new Settled(batch.get(1).sequence(), Settlement.complete()));

      assertThatThrownBy(() -> finished(session.settle(settlement, write("early", 0))))
          .isInstanceOf(OutOfOrder.class);
      assertThat(session.state()).isEqualTo(SessionState.none());
    }
  }

  @Test
  @ContractRule("S-09")
  void aStateThatIsTooLargeIsRefused() {
    assertThatThrownBy(() -> new SessionState.Write(new byte[SessionState.MAX_BYTES + 1], 0))
        .isInstanceOf(LimitExceeded.class);
  }

  private static SessionState.Write write(String text, long expectedVersion) {
    return new SessionState.Write(text.getBytes(StandardCharsets.UTF_8), expectedVersion);
  }

  private static String text(SessionState state) {
    return new String(state.bytes(), StandardCharsets.UTF_8);
  }
}
