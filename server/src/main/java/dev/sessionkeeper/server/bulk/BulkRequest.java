package dev.sessionkeeper.server.bulk;

import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import dev.sessionkeeper.server.json.InvalidInput;
import java.util.List;
import java.util.Optional;

/**
 * Counts what an act would change, or does it.
 *
 * @param dryRun whether to count only; the answer has the token that the act itself needs
 * @param token of the dry run with the same act and filter
 */
record BulkRequest(
    BulkAct act,
    Optional<BulkFilter> filter,
    Optional<Boolean> dryRun,
    Optional<String> token,
    Optional<String> reason) {

  static BulkRequest read(Fields in) {
    var act = in.required("act", Decode.oneOf(Decode.words(BulkAct.class, BulkAct::toString)));
    var filter = in.optional("filter", Decode.object(BulkFilter::read));
    var dryRun = in.optional("dryRun", Decode.bool());
    var token = in.optional("token", Decode.text(4096));
    var reason = in.optional("reason", Decode.text(1000));
    in.check();
    var request = new BulkRequest(act.get(), filter.get(), dryRun.get(), token.get(), reason.get());
    request.refuseWhatDoesNotFit();
    return request;
  }

  private void refuseWhatDoesNotFit() {
    boolean counts = dryRun.orElse(false);
    if (counts == token.isPresent()) {
      throw new InvalidInput(
          "token", counts ? "must be left out with dryRun" : "is missing; ask for one with dryRun");
    }
    if (!counts && reason.filter(text -> !text.isBlank()).isEmpty()) {
      throw new InvalidInput("reason", "is missing; it is kept for the next person");
    }
    var selected = selected();
    if (!selected.fits(act)) {
      throw new InvalidInput("filter", "does not fit the act " + act);
    }
    if (act.isOnEvents() && selected.equals(BulkFilter.ALL)) {
      throw new InvalidInput("filter", "must have a field, so that not all events are sent again");
    }
  }

  BulkFilter selected() {
    return filter.orElse(BulkFilter.ALL);
  }

  /**
   * The sessions or dead letters that the act would change, or the messages that it would send.
   *
   * @param countIsExact false above 10,000
   * @param samples the first ten
   * @param token valid for five minutes, for this caller, act, queue and filter
   */
  record DryRun(long count, boolean countIsExact, List<String> samples, String token) {}
}
