package dev.sessionkeeper.server.queues;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** How deliveries of an unordered queue end, each for itself. */
record ReceiptRequest(List<Item> settlements) {

  static ReceiptRequest read(Fields in) {
    var settlements = in.required("settlements", Decode.list(1, 1000, Decode.object(Item::read)));
    in.check();
    return new ReceiptRequest(settlements.get());
  }

  /** How one delivery ends. */
  record Item(
      String receipt, SettleAction action, Optional<Duration> delay, Optional<String> reason) {
    static Item read(Fields in) {
      var receipt = in.required("receipt", Decode.text(4096));
      var action = in.required("action", SettleAction.decoder());
      var delay = in.optional("delay", Decode.duration(Duration.ZERO, SettleAction.MAX_DELAY));
      var reason = in.optional("reason", Decode.text(1000));
      in.check();
      action.get().refuseWhatDoesNotFit(delay.get(), reason.get());
      return new Item(receipt.get(), action.get(), delay.get(), reason.get());
    }
  }

  /** What to receive. */
  record Receive(Optional<Integer> max, @JsonProperty("wait") Optional<Duration> patience) {
    static Receive read(Fields in) {
      var max = in.optional("max", Decode.integer(1, 1000));
      var wait = in.optional("wait", Decode.duration(Duration.ZERO, Queues.MAX_WAIT));
      in.check();
      return new Receive(max.get(), wait.get());
    }
  }

  /** What became of each settlement, in the order asked for. */
  record Answer(List<Done> settlements) {}

  /**
   * One settlement.
   *
   * @param settled false when the lock on the message had run out: it is delivered again
   */
  record Done(String receipt, SettleAction action, boolean settled) {}
}
