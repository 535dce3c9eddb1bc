package dev.sessionkeeper.postgres;

/** Planted: a call with seven positional arguments. */
public final class PlantedCall {
  private PlantedCall() {}

  static int call() {
    return sum(1, 2, 3, 4, 5, 6, 7);
  }

  private static int sum(int a, int b, int c, int d, int e, int f, int g) {
    return a + b + c + d + e + f + g;
  }
}
