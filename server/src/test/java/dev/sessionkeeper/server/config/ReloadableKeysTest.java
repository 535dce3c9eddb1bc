package dev.sessionkeeper.server.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.server.ReadConfig;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Tests that each key declares once, beside its reader, whether a reload can change it. */
class ReloadableKeysTest {

  @Test
  void everyKeyThatIsReadIsDeclaredAndNoOther() {
    var context = new ConfigContext(Map.of(), Path.of("").toAbsolutePath());
    for (var section : ReadConfig.SECTIONS) {
      assertThat(new TreeSet<>(section.declared().keySet()))
          .as(section.key())
          .isEqualTo(new TreeSet<>(section.absent(context).keys().keySet()));
    }
  }
}
