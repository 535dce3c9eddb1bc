package dev.sessionkeeper.simulator;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.spi.HeldSession.Settled;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** A queue as a script uses it: each owner holds at most one session. */
interface ScriptedStore {
  /** The lock duration of queues whose leases expire in a script. */
  Duration SHORT = Duration.ofSeconds(1);

  List<SendOutcome> send(List<Message> messages);

  /** Accepts a session; the answer is its name, and empty if no session has work. */
  Optional<String> accept(String owner, Duration wait) throws Exception;

  List<Delivery> receive(String owner, int max) throws Exception;

  void settle(String owner, List<Settled> settlements, Optional<SessionState.Write> state)
      throws Exception;

  SessionState state(String owner) throws Exception;

  void renew(String owner) throws Exception;

  void close(String owner) throws Exception;

  /** Returns the epoch of the owner's session. */
  long epoch(String owner);
}
