package dev.sessionkeeper.server.dashboard;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class JsonDiffTest {
  private static List<JsonDiff.Change> between(String before, String after) {
    return JsonDiff.between(
        Data.document(before.getBytes(UTF_8)).orElseThrow().json(),
        Data.document(after.getBytes(UTF_8)).orElseThrow().json());
  }

  private static JsonDiff.Change change(String path, String before, String after) {
    return new JsonDiff.Change(path, Optional.ofNullable(before), Optional.ofNullable(after));
  }

  @Test
  void whatIsOtherGoneOrNewIsNamedByItsPath() {
    assertThat(
            between(
                "{\"a\":1,\"b\":{\"c\":\"x\",\"d\":true},\"l\":[1,2]}",
                "{\"a\":1,\"b\":{\"c\":\"y\"},\"l\":[1,2,3],\"n\":null}"))
        .containsExactly(
            change("b.c", "x", "y"),
            change("b.d", "true", null),
            change("l[2]", null, "3"),
            change("n", null, ""));
  }

  @Test
  void equalDocumentsHaveNoDifferenceAndNumbersKeepTheirDigits() {
    assertThat(between("{\"a\":[{\"b\":1}]}", "{ \"a\" : [ {\"b\" : 1} ] }")).isEmpty();
    assertThat(between("12345678901234567890", "12345678901234567891"))
        .containsExactly(change("$", "12345678901234567890", "12345678901234567891"));
  }

  @Test
  void aPageShowsAHundredOfThem() {
    var many = new StringBuilder("[0");
    for (int i = 1; i < 300; i++) {
      many.append(",").append(i);
    }
    assertThat(between("[]", many + "]")).hasSize(JsonDiff.MOST);
  }
}
