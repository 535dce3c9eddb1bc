package dev.sessionkeeper.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

/** Every example runs to its end and prints what its text promises. */
@Timeout(30)
@ResourceLock(Resources.SYSTEM_OUT)
class ExamplesTest {

  @Test
  void firstProcessor() throws Exception {
    assertThat(linesOf(() -> FirstProcessor.main(new String[0])))
        .containsExactlyInAnyOrder(
            "customer-42: {\"item\":\"tea\"}",
            "customer-42: {\"item\":\"cup\"}",
            "customer-7: {\"item\":\"milk\"}")
        .containsSubsequence("customer-42: {\"item\":\"tea\"}", "customer-42: {\"item\":\"cup\"}");
  }

  @Test
  void choosingSessions() throws Exception {
    assertThat(linesOf(() -> ChoosingSessions.main(new String[0])))
        .containsExactly(
            "one field: customer-42",
            "two fields: tea-house/customer-42",
            "a property and a JSON path: acme/42",
            "the fallback: acme",
            "ready to send: acme/42");
  }

  @Test
  void failuresAndPoison() throws Exception {
    assertThat(linesOf(() -> FailuresAndPoison.main(new String[0])))
        .containsExactly(
            "pay, attempt 1",
            "pay, attempt 2",
            "pay, attempt 3",
            "deliver, attempt 1",
            "dead: max delivery count reached,"
                + " java.lang.IllegalStateException: the bank does not answer",
            "pay, attempt 1");
  }

  @Test
  void sessionMemory() throws Exception {
    assertThat(linesOf(() -> SessionMemory.main(new String[0])))
        .containsExactly(
            "account-1 has 100, epoch 1", "account-1 has 70, epoch 1", "account-1 has 75, epoch 1");
  }

  @Test
  void withoutOrder() throws Exception {
    assertThat(linesOf(() -> WithoutOrder.main(new String[0])))
        .containsExactlyInAnyOrder(
            "sent mail 1", "sent mail 2", "sent mail 3", "sent mail 4", "sent mail 5");
  }

  private static List<String> linesOf(Example example) throws Exception {
    var before = System.out;
    var bytes = new ByteArrayOutputStream();
    System.setOut(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    try {
      example.run();
    } finally {
      System.setOut(before);
    }
    return bytes.toString(StandardCharsets.UTF_8).lines().toList();
  }

  /** The main method of an example. */
  @FunctionalInterface
  private interface Example {
    void run() throws Exception;
  }
}
