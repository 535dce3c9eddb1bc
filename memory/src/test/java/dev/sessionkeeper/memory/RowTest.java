package dev.sessionkeeper.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RowTest {
  private final Map<Integer, Integer> places = new HashMap<>();
  private final Row<Integer> row = new Row<>(places::put);

  @Test
  void whoCameFirstLeavesFirst() {
    add(1, 2, 3);

    assertThat(takeAll()).containsExactly(1, 2, 3);
    assertThat(row.isEmpty()).isTrue();
  }

  @Test
  void whoStepsOutChangesNothingForTheOthers() {
    add(1, 2, 3);
    row.remove(2, places.get(2));
    row.remove(2, places.get(2));

    assertThat(row.size()).isEqualTo(2);
    assertThat(takeAll()).containsExactly(1, 3);
  }

  @Test
  void anOldPlaceRemovesNobodyElse() {
    add(1);
    int old = places.get(1);
    assertThat(row.removeFirst()).isEqualTo(1);
    add(2, 3, 4, 5, 6);

    row.remove(1, old);

    assertThat(takeAll()).containsExactly(2, 3, 4, 5, 6);
  }

  @Test
  void whateverComesAndGoesItBehavesLikeAList() {
    var random = new Random(7);
    var expected = new ArrayList<Integer>();
    for (int step = 0; step < 20_000; step++) {
      int what = random.nextInt(5);
      if (what < 2 || expected.isEmpty()) {
        add(step);
        expected.add(step);
      } else if (what < 4) {
        var gone = expected.remove(random.nextInt(expected.size()));
        row.remove(gone, places.get(gone));
      } else {
        assertThat(row.removeFirst()).isEqualTo(expected.removeFirst());
      }
      assertThat(row.size()).isEqualTo(expected.size());
    }
    assertThat(takeAll()).isEqualTo(expected);
  }

  private void add(int... things) {
    for (int thing : things) {
      places.put(thing, row.add(thing));
    }
  }

  private List<Integer> takeAll() {
    var all = new ArrayList<Integer>();
    while (!row.isEmpty()) {
      all.add(row.removeFirst());
    }
    return all;
  }
}
