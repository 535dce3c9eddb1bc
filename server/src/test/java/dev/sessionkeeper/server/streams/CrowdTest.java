package dev.sessionkeeper.server.streams;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.store.Database;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The short form of {@link CrowdOfReaders}, whose main method runs the long one. */
class CrowdTest {

  @Test
  @Timeout(180)
  void readersThatReconnectOverARestartSeeEveryEventOnce() throws Exception {
    var crowd = new CrowdOfReaders(100, 60, Database.of(TestDatabase.create().source()));
    assertThat(crowd.run()).isEmpty();
  }
}
