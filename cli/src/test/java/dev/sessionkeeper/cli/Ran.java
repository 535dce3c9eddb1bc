package dev.sessionkeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A command that ran in this process: its exit code and both outputs. */
record Ran(int code, String out, String err) {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  static Ran keeper(String... args) {
    var out = new ByteArrayOutputStream();
    var err = new ByteArrayOutputStream();
    var outBefore = System.out;
    var errBefore = System.err;
    System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
    System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
    try {
      int code = Keeper.run(args);
      return new Ran(
          code, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    } finally {
      System.setOut(outBefore);
      System.setErr(errBefore);
    }
  }

  JsonNode json() {
    assertThat(code).as(err).isZero();
    return JSON.readTree(out);
  }

  JsonNode error() {
    return JSON.readTree(err);
  }
}
