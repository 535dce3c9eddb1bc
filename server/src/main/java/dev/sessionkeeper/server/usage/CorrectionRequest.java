package dev.sessionkeeper.server.usage;

import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import java.math.BigDecimal;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * Bills a record at another factor.
 *
 * @param recordId as sent to the receiver: session and number
 */
record CorrectionRequest(String recordId, BigDecimal factor, String reason) {
  private static final Pattern RECORD = Pattern.compile("[0-9a-fA-F-]{36}:[1-9][0-9]{0,8}");
  private static final BigDecimal MOST = new BigDecimal(1_000_000);

  static CorrectionRequest read(Fields in) {
    var id = in.required("recordId", Decode.text(60).map(CorrectionRequest::record));
    var factor =
        in.required("factor", Decode.decimal(BigDecimal.ZERO, MOST).map(CorrectionRequest::factor));
    var reason = in.required("reason", Decode.text(500));
    in.check();
    return new CorrectionRequest(id.get(), factor.get(), reason.get());
  }

  private static String record(String text) {
    if (!RECORD.matcher(text).matches()) {
      throw new IllegalArgumentException("must be a session's id, a colon and a number");
    }
    Decode.parseGuid(text.substring(0, 36));
    return text;
  }

  private static BigDecimal factor(BigDecimal number) {
    if (number.stripTrailingZeros().scale() > 3) {
      throw new IllegalArgumentException("must have at most three decimal places");
    }
    return number;
  }

  UUID session() {
    return UUID.fromString(recordId.substring(0, 36));
  }

  int seq() {
    return Integer.parseInt(recordId.substring(37));
  }
}
