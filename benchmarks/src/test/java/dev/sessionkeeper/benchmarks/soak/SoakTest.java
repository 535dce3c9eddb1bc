package dev.sessionkeeper.benchmarks.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The short form of {@link Soak}, and proof that its judgement can fail. */
@Tag("slow")
class SoakTest {

  @Test
  void memoryConnectionsTablesAndRateStayFlat() throws Exception {
    var soak = new Soak(Duration.ofSeconds(50));

    soak.run();

    System.out.println(soak.table());
    assertThat(soak.notFlat()).as(soak.table()).isEmpty();
  }

  @Test
  void aFigureThatGrowsIsFound() {
    var leak = new Series("leak", 0.1, 0, true);
    DoubleStream.iterate(100, value -> value + 1).limit(30).forEach(leak::add);
    assertThat(leak.isFlat()).isFalse();
  }

  @Test
  void aRateThatFallsIsFound() {
    var rate = new Series("rate", 0.1, 0, false);
    DoubleStream.iterate(100, value -> value - 1).limit(30).forEach(rate::add);
    assertThat(rate.isFlat()).isFalse();
  }

  @Test
  void aFigureThatOnlyTremblesIsFlat() {
    var trembling = new Series("trembling", 0.1, 0, false);
    DoubleStream.iterate(1, value -> -value).limit(30).forEach(each -> trembling.add(100 + each));
    assertThat(trembling.isFlat()).isTrue();
  }

  @Test
  void tooFewValuesProveNothing() {
    var few = new Series("few", 0.1, 0, true);
    DoubleStream.of(1, 1, 1).forEach(few::add);
    assertThat(few.isFlat()).isFalse();
  }
}
