package dev.sessionkeeper.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.KeeperException;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;

/** A failed run is described in words, with those of the database. */
class FailureTextTest {
  @Test
  void aRefusedStatementIsDescribedWithTheFirstLineOfTheDatabase() {
    var cause = new SQLException("ERROR: relation \"keeper.x\" does not exist\n  Position: 15");
    assertThat(RunJob.text(new KeeperException.Rejected("The database refused a statement", cause)))
        .endsWith("The database refused a statement: ERROR: relation \"keeper.x\" does not exist")
        .doesNotContain("dev.sessionkeeper");
  }

  @Test
  void aFailureOfTheJobItselfKeepsItsClass() {
    assertThat(RunJob.text(new IllegalStateException("no room")))
        .isEqualTo("java.lang.IllegalStateException: no room");
  }
}
