package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Decoder;

/** The ways in which a delivery ends, by their words in the API. */
enum SettleAction {
  COMPLETE("complete"),
  RETRY("retry"),
  POSTPONE("postpone"),
  DEAD_LETTER("deadLetter"),
  PARK("park");

  private final String word;

  SettleAction(String word) {
    this.word = word;
  }

  static Decoder<SettleAction> decoder() {
    return Decode.oneOf(Decode.words(SettleAction.class, SettleAction::toString));
  }

  @Override
  public String toString() {
    return word;
  }
}
