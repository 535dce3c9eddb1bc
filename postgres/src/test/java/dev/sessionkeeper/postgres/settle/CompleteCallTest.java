package dev.sessionkeeper.postgres.settle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.HeldSession.Settled;
import java.util.List;
import org.junit.jupiter.api.Test;

class CompleteCallTest {
  private static List<Settled> of(long sequence) {
    return List.of(new Settled(sequence, Settlement.complete()));
  }

  @Test
  void messagesJoinItUntilItsTurnHasCome() {
    var call = new CompleteCall(SessionId.of("a"), 1, of(5), () -> false, Fence.OfSession::new);
    assertThat(call.join(of(7))).isTrue();
    assertThat(call.take()).containsExactly(5, 7);
    assertThat(call.join(of(9))).as("it is on its way").isFalse();
    assertThat(call.settlements()).hasSize(2);
    assertThat(call.first()).isEqualTo(5);
  }
}
