package dev.sessionkeeper.benchmarks.faults;

/**
 * One line of a journal.
 *
 * @param nanos the machine's monotonic clock, which all of its processes share
 * @param process the process that wrote the line
 * @param session blank if none is concerned
 * @param number the message's number within its session; 0 if none is concerned
 * @param epoch of the hold; 0 if none is concerned
 * @param value see {@link Kind}
 * @param word see {@link Kind}
 */
record Event(
    long nanos,
    String process,
    Kind kind,
    String session,
    long number,
    long epoch,
    long value,
    String word) {

  /** The kind of an event. */
  enum Kind {
    /** A sender is about to send the message. */
    SENDING,
    /** The send of the message returned. */
    SENT,
    /** A session was accepted; value: when the lease ends in microseconds since 1970. */
    TAKEN,
    /** The accept that brought the session began; written together with TAKEN. */
    ACCEPTING,
    /** The lease is longer than it was; value: as of TAKEN. */
    RENEWED,
    /** A receive brought the message; value: its attempt, word: its sequence. */
    HANDED,
    /** A handler was called; value: the attempt. */
    BEGAN,
    /** A handler is about to return; word: the {@link Outcome}. */
    ENDED,
    /** A settlement is about to be sent; word: the {@link Outcome}. */
    SETTLING,
    /** A settlement was confirmed; word: the {@link Outcome}. */
    SETTLED,
    /** A settlement failed; word: the name of the error. */
    REFUSED,
    /** A hold is about to be released. */
    CLOSING,
    /** A process learned that its lease is lost. */
    LOST,
    /** An operator is about to act on the session; word: the act. */
    ACTING,
    /** The act returned, or failed. */
    ACTED,
    /** An operator is about to replay the dead letters of the session. */
    REPLAYING,
    /** The process named by word starts. */
    STARTED,
    /** The process named by word is about to be killed. */
    KILLED,
    /** The process named by word is about to be stopped. */
    FROZEN,
    /** The process named by word continues. */
    THAWED,
    /** The traffic between the database and the process named by word is stopped. */
    ISOLATED,
    /** The stopped traffic between the database and the process named by word arrives. */
    REACHED,
    /** One connection between the database and the process named by word is about to be cut. */
    CUT,
    /** The process named by word was asked to leave. */
    LEAVING,
    /** The database is about to be crashed. */
    CRASHING,
    /** The database answers again. */
    RECOVERED,
    /** At the end: a dead letter; value: its attempts, word: its reason. */
    DEAD,
    /** At the end: a row that a transactional handler wrote; value: the attempt. In their order. */
    EFFECT,
    /** At the end: a session that still has messages; value: how many. */
    STRANDED,
    /** At the end: value: how many messages the queue counts. */
    COUNTED
  }

  /** How one handler ended its attempt of a message. */
  enum Outcome {
    COMPLETE,
    RETRY,
    DEAD_LETTER
  }

  boolean is(Kind wanted) {
    return kind == wanted;
  }

  boolean is(Kind wanted, Outcome outcome) {
    return kind == wanted && word.equals(outcome.name());
  }

  String line() {
    return String.join(
        "\t",
        Long.toString(nanos),
        kind.name(),
        session,
        Long.toString(number),
        Long.toString(epoch),
        Long.toString(value),
        word);
  }

  static Event parse(String process, String line) {
    var fields = line.split("\t", -1);
    return new Event(
        Long.parseLong(fields[0]),
        process,
        Kind.valueOf(fields[1]),
        fields[2],
        Long.parseLong(fields[3]),
        Long.parseLong(fields[4]),
        Long.parseLong(fields[5]),
        fields[6]);
  }

  @Override
  public String toString() {
    return kind
        + (number > 0 ? " " + number : "")
        + (epoch > 0 ? " in epoch " + epoch : "")
        + (value > 0 ? " value " + value : "")
        + (word.isBlank() ? "" : " " + word)
        + " by "
        + process
        + " at "
        + nanos / 1_000_000
        + " ms";
  }
}
