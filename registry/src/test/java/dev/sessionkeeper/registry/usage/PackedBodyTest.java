package dev.sessionkeeper.registry.usage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PackedBodyTest {
  @Test
  void whatIsPackedIsUnpackedByteByByte() {
    var random = new byte[300_000];
    new Random(7).nextBytes(random);
    var records = "{\"usage\":0.000023148}".repeat(20_000).getBytes(StandardCharsets.US_ASCII);
    for (var body : new byte[][] {{}, {'['}, random, records}) {
      assertThat(PackedBody.unpack(PackedBody.pack(body))).isEqualTo(body);
    }
    assertThat(PackedBody.pack(records)).hasSizeLessThan(records.length / 10);
  }

  @Test
  void whatIsCutOrDamagedIsNotTakenForABody() {
    var packed =
        PackedBody.pack("some records, one after the other".getBytes(StandardCharsets.US_ASCII));
    assertThatIllegalStateException()
        .isThrownBy(() -> PackedBody.unpack(Arrays.copyOf(packed, packed.length - 3)))
        .withMessageContaining("is cut");
    packed[packed.length / 2] ^= 0x55;
    assertThatIllegalStateException().isThrownBy(() -> PackedBody.unpack(packed));
  }
}
