package dev.sessionkeeper.benchmarks.fuzz;

import java.util.Locale;

/** What Jazzer calls. */
public final class FuzzOne {
  static final String PROPERTY = "keeper.fuzz.target";

  private static final Target TARGET =
      Target.valueOf(System.getProperty(PROPERTY, "cursor").toUpperCase(Locale.ROOT));

  private FuzzOne() {}

  /** The name is Jazzer's. */
  public static void fuzzerTestOneInput(byte[] input) throws Exception {
    TARGET.take(input);
  }
}
