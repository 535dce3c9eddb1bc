package dev.sessionkeeper.registry;

import static dev.sessionkeeper.registry.TestDatabase.again;
import static dev.sessionkeeper.registry.TestDatabase.someone;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.testkit.FaultyNetwork;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** PUT on connections that are cut between the database's commit and its answer. */
@Tag("slow")
class CutConnectionsTest {
  private final TestDatabase db = new TestDatabase();
  private FaultyNetwork network;
  private SessionRegistry registry;

  @BeforeEach
  void connect() throws IOException {
    network = FaultyNetwork.to(TestDatabase.port());
    registry = SessionRegistry.create(db.through(network.port()), RegistryOptions.defaults());
  }

  @AfterEach
  void close() throws IOException {
    network.close();
    db.close();
  }

  @Test
  void aSessionWhoseBeginningWasNotAnsweredIsFound() {
    network.cutAnswerTo("begin_sessions");
    var outcome = registry.put(someone(1));
    assertThat(network.cuts()).isEqualTo(1);
    assertThat(outcome).isInstanceOf(PutOutcome.Existing.class);
    assertThat(sessions()).isEqualTo(1);
  }

  @Test
  void anUpgradeThatWasNotAnsweredIsFound() {
    var request = someone(1);
    registry.put(request);
    network.cutAnswerTo("keeper.put_session");
    var outcome = registry.put(again(request, 3));
    assertThat(network.cuts()).isEqualTo(1);
    assertThat(outcome)
        .isInstanceOfSatisfying(
            PutOutcome.Existing.class, found -> assertThat(found.session().kind()).isEqualTo(3));
    assertThat(sessions()).isEqualTo(2);
  }

  /** The answer used to be "nothing was changed". */
  @Test
  void aSessionThatCannotBeLookedUpHasAnUnknownOutcome() {
    network.cutAnswerTo("begin_sessions");
    network.refuseAfterCut();
    assertThatThrownBy(() -> registry.put(someone(1)))
        .isInstanceOf(KeeperException.OutcomeUnknown.class);
    assertThat(sessions()).as("it has begun").isEqualTo(1);
  }

  private long sessions() {
    return db.number("SELECT count(*) FROM keeper.registered_session");
  }
}
