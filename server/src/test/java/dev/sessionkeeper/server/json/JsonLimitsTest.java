package dev.sessionkeeper.server.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** A document costs memory in proportion to the values that are read, not to those it contains. */
class JsonLimitsTest {
  private static final int MEGABYTE = 1 << 20;

  private static List<FieldError> errors(String document, Function<Fields, ?> reader) {
    var bytes = document.getBytes(StandardCharsets.UTF_8);
    return catchThrowableOfType(InvalidInput.class, () -> Fields.read(bytes, reader)).errors();
  }

  private static String nothing(Fields in) {
    in.check();
    return "";
  }

  private static byte[] keptBody(Fields in) {
    var kept = in.required("v", Decode.any());
    in.check();
    return kept.get().span().bytes();
  }

  private static long allocated(Runnable task) {
    var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getThreadAllocatedBytes(Thread.currentThread().threadId());
    task.run();
    return threads.getThreadAllocatedBytes(Thread.currentThread().threadId()) - before;
  }

  @Test
  void anUnknownFieldIsNotBuiltBeforeItIsRefused() {
    var document =
        ("{\"a\":[" + "1,".repeat(8 * MEGABYTE) + "1]}").getBytes(StandardCharsets.UTF_8);
    long bytes =
        allocated(
            () ->
                assertThat(
                        catchThrowableOfType(
                                InvalidInput.class,
                                () -> Fields.read(document, JsonLimitsTest::nothing))
                            .errors())
                    .extracting(FieldError::field)
                    .containsExactly("a"));
    assertThat(bytes).isLessThan(2 * MEGABYTE);
  }

  @Test
  void aBodyIsKeptAsSentWithoutBeingBuilt() {
    var value = "[" + "{\"a\":[1,1]},".repeat(100_000) + "null]";
    var document = ("{\"v\":" + value + "}").getBytes(StandardCharsets.UTF_8);
    long bytes =
        allocated(
            () ->
                assertThat(Fields.read(document, JsonLimitsTest::keptBody))
                    .hasSize(value.length()));
    assertThat(bytes).isLessThan(document.length + 2L * MEGABYTE);
  }

  @Test
  void anObjectWithTooManyNamesIsRefusedWithTheLimit() {
    var names = new StringBuilder("{\"n0\":1");
    for (int i = 1; i < 200_000; i++) {
      names.append(",\"n").append(i).append("\":1");
    }
    var found = errors(names + "}", JsonLimitsTest::nothing);
    assertThat(found).hasSize(1);
    assertThat(found.get(0).reason()).contains("at most 1000 names");
  }

  @Test
  void aListWithTooManyItemsIsRefusedWithTheLimit() {
    var found =
        errors(
            "{\"list\":[" + "1,".repeat(300_000) + "1]}",
            in -> {
              var list = in.required("list", Decode.list(0, 1000, Decode.integer(0, 5)));
              in.check();
              return list.get();
            });
    assertThat(found).hasSize(1);
    assertThat(found.get(0).field()).isEqualTo("list");
    assertThat(found.get(0).reason()).contains("100000 values");
  }

  @Test
  void aNestedDuplicateIsStillRefusedWhereItIsRead() {
    assertThat(
            errors(
                "{\"o\":{\"a\":1,\"a\":2}}",
                in -> {
                  var object =
                      in.required(
                          "o",
                          Decode.object(
                              inner -> {
                                var a = inner.required("a", Decode.integer(0, 5));
                                inner.check();
                                return a.get();
                              }));
                  in.check();
                  return object.get();
                }))
        .extracting(FieldError::toString)
        .singleElement()
        .asString()
        .contains("a", "twice");
  }

  @Test
  void aBrokenPartIsRefusedAlsoWhereNothingReadsIt() {
    for (var broken : List.of("[1,", "{\"a\":tru}", "\"\\x\"", "[1 2]", "\"\u0001\"", "01")) {
      assertThat(errors("{\"v\":" + broken + "}", JsonLimitsTest::nothing))
          .as(broken)
          .extracting(FieldError::field)
          .containsExactly("$");
    }
  }
}
