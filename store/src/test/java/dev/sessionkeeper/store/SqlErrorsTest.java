package dev.sessionkeeper.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.KeeperException;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;

class SqlErrorsTest {

  @Test
  void aFullDiskIsToldInTheWordsOfTheDatabase() {
    var full =
        new SQLException(
            "ERROR: could not extend file \"base/1/2\": No space left on device\n  Hint: …",
            "53100");
    assertThat(SqlErrors.translate(full))
        .isInstanceOf(KeeperException.Unavailable.class)
        .hasMessage(
            "[SK-101] The database cannot write: could not extend file \"base/1/2\": No space left"
                + " on device. Free space on the disk of its data")
        .hasCause(full);
  }

  @Test
  void aFunctionOfTheProductThatIsGoneMeansANewerReleaseAndAnyOtherAMistake() {
    var ours = new SQLException("ERROR: function keeper.send(integer) does not exist", "42883");
    assertThat(SqlErrors.isTransient(ours)).isTrue();
    assertThat(SqlErrors.translate(ours))
        .isInstanceOf(KeeperException.Unavailable.class)
        .hasMessageContaining("A newer release has changed the database: function keeper.send");
    var theirs = new SQLException("ERROR: function total(integer) does not exist", "42883");
    assertThat(SqlErrors.isTransient(theirs)).isFalse();
    assertThat(SqlErrors.translate(theirs)).isInstanceOf(KeeperException.Rejected.class);
  }

  @Test
  void aStandbyIsUnavailableForWrites() {
    var standby =
        new SQLException("ERROR: cannot execute INSERT in a read-only transaction", "25006");
    assertThat(SqlErrors.translate(standby))
        .isInstanceOf(KeeperException.Unavailable.class)
        .hasMessageContaining("cannot execute INSERT in a read-only transaction")
        .hasMessageContaining("primary");
  }
}
