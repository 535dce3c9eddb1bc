package dev.sessionkeeper.sqs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.KeeperException.LockLost;
import dev.sessionkeeper.KeeperException.StaleState;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("slow")
class SessionStateStoreTest {
  private static final QueueName QUEUE = QueueName.of("q");
  private static final SessionId SESSION = SessionId.of("a");

  @Test
  void inMemory() {
    keepsStateUnderTheNewestEpoch(new MemorySessionStateStore());
  }

  @Test
  void inPostgres() {
    try (var postgres = EmbeddedPostgres.temporaryWithoutSync()) {
      keepsStateUnderTheNewestEpoch(PostgresSessionStateStore.create(postgres.dataSource()));
      assertThat(PostgresSessionStateStore.create(postgres.dataSource()).read(QUEUE, SESSION))
          .isEqualTo(new SessionState(new byte[] {2}, 2));
    }
  }

  private static void keepsStateUnderTheNewestEpoch(SessionStateStore store) {
    assertThat(store.read(QUEUE, SESSION)).isEqualTo(SessionState.none());
    long old = store.open(QUEUE, SESSION, 100);
    assertThat(old).isEqualTo(100);
    assertThat(store.write(QUEUE, SESSION, old, write(1, 0)))
        .isEqualTo(new SessionState(new byte[] {1}, 1));
    assertThatThrownBy(() -> store.write(QUEUE, SESSION, old, write(9, 0)))
        .isInstanceOf(StaleState.class);

    long current = store.open(QUEUE, SESSION, 7);
    assertThat(current).isEqualTo(101);
    assertThatThrownBy(() -> store.write(QUEUE, SESSION, old, write(9, SessionState.ANY_VERSION)))
        .isInstanceOf(LockLost.class);
    store.write(QUEUE, SESSION, current, write(2, SessionState.ANY_VERSION));
    assertThat(store.read(QUEUE, SESSION)).isEqualTo(new SessionState(new byte[] {2}, 2));
  }

  private static SessionState.Write write(int value, long expected) {
    return new SessionState.Write(new byte[] {(byte) value}, expected);
  }
}
