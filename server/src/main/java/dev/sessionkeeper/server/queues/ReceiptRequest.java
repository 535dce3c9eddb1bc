package dev.sessionkeeper.server.queues;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.sessionkeeper.Limits;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Settlements of deliveries of an unordered queue, each independent of the others. */
record ReceiptRequest(List<Item> settlements) {
  private static final int MAX_RECEIPT = 4096;

  static ReceiptRequest read(Fields in) {
    var settlements =
        in.required(
            "settlements", Decode.list(1, Limits.DEFAULT.maxBatch(), Decode.object(Item::read)));
    in.check();
    return new ReceiptRequest(settlements.get());
  }

  /** The settlement of one delivery; {@link Ending} explains the fields. */
  record Item(
      String receipt,
      SettleAction action,
      Optional<Duration> delay,
      Optional<String> reason,
      Optional<String> error,
      Optional<Boolean> keepRetrying) {
    static Item read(Fields in) {
      var receipt = in.required("receipt", Decode.text(MAX_RECEIPT));
      var fields = Ending.read(in);
      in.check();
      var ending = fields.get();
      return new Item(
          receipt.get(),
          ending.action(),
          ending.delay(),
          ending.reason(),
          ending.error(),
          ending.keepRetrying());
    }

    Settlement settlement() {
      return new Ending(action, delay, reason, error, keepRetrying).settlement();
    }
  }

  /** The most messages to receive, and the longest wait. */
  record Receive(Optional<Integer> max, @JsonProperty("wait") Optional<Duration> patience) {
    static Receive read(Fields in) {
      var max = in.optional("max", Decode.integer(1, Limits.DEFAULT.maxBatch()));
      var wait = in.optional("wait", Decode.duration(Duration.ZERO, Queues.MAX_WAIT));
      in.check();
      return new Receive(max.get(), wait.get());
    }
  }

  /** Names the message whose lock is renewed. */
  record Renew(String receipt) {
    static Renew read(Fields in) {
      var receipt = in.required("receipt", Decode.text(MAX_RECEIPT));
      in.check();
      return new Renew(receipt.get());
    }
  }

  /** The new end of the lock. */
  record Renewed(Instant lockedUntil) {}

  /** The result of each settlement, in the order of the request. */
  record Answer(List<Done> settlements) {}

  /**
   * The result of one settlement.
   *
   * @param settled false if the lock on the message had expired, so that it is delivered again
   */
  record Done(String receipt, SettleAction action, boolean settled) {}
}
