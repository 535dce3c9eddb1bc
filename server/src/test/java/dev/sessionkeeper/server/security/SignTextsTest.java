package dev.sessionkeeper.server.security;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.store.Migrations;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;

class SignTextsTest {
  private final ServerSecret secret = ServerSecret.ofThisProcess();
  private final SignTexts leases = secret.signing("lease");

  @Test
  void aHandleIsReadBackInItsOwnContextOnly() {
    var handle = leases.sign("text", "queue", "ann");
    assertThat(leases.verify(handle, "queue", "ann")).contains("text");
    assertThat(secret.signing("lease").verify(handle, "queue", "ann")).contains("text");
    assertThat(leases.verify(handle, "queue", "bob")).isEmpty();
    assertThat(leases.verify(handle, "queuea", "nn")).isEmpty();
    assertThat(leases.verify(handle, "queue")).isEmpty();
    assertThat(secret.signing("cookie").verify(handle, "queue", "ann")).isEmpty();
    assertThat(ServerSecret.ofThisProcess().signing("lease").verify(handle, "queue", "ann"))
        .isEmpty();
  }

  @Test
  void aHandleWithAnyOtherBitIsRefused() {
    var handle = Base64.getUrlDecoder().decode(leases.sign("text", "queue"));
    for (int bit = 0; bit < handle.length * 8; bit++) {
      var changed = handle.clone();
      changed[bit / 8] ^= (byte) (1 << bit % 8);
      var text = Base64.getUrlEncoder().withoutPadding().encodeToString(changed);
      assertThat(leases.verify(text, "queue")).as("bit %d", bit).isEmpty();
    }
    for (var odd : List.of("", "A", "!", "AAAA", "A".repeat(21))) {
      assertThat(leases.verify(odd, "queue")).isEmpty();
    }
  }

  @Test
  void allServersOfOneStoreHaveTheSameSecretAndStoresHaveDifferentOnes() {
    var one = TestDatabase.create().source();
    var other = TestDatabase.create().source();
    Migrations.apply(one, "store");
    Migrations.apply(other, "store");
    var handle = ServerSecret.in(Database.of(one)).signing("lease").sign("text");
    assertThat(ServerSecret.in(Database.of(one)).signing("lease").verify(handle)).contains("text");
    assertThat(ServerSecret.in(Database.of(other)).signing("lease").verify(handle)).isEmpty();
  }
}
