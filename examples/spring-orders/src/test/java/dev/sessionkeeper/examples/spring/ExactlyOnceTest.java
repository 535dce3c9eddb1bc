package dev.sessionkeeper.examples.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Every order is booked once and in order, although the application is killed while it books. Run
 * with {@code -Dorders.messages=1000 -Dorders.kills=10} for the long form.
 */
@Tag("slow")
class ExactlyOnceTest {

  @Test
  void effectAndSettlementCommitTogetherUnderSigkill() throws Exception {
    var folder = Path.of("target");
    int messages = Integer.getInteger("orders.messages", 200);
    int kills = Integer.getInteger("orders.kills", 2);
    try (var run = new KillRun(folder)) {
      var result = run.run(messages, kills);
      assertThat(result).isEqualTo(new KillRun.Result(messages, messages, 0, kills));
    }
  }
}
