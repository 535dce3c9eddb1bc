package dev.sessionkeeper.sqs;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.sqs.MessageCodec.Outgoing;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Sends messages in batches of at most ten messages and a mebibyte, one batch after the other.
 *
 * <p>SQS may refuse single messages of a batch. After a refusal no later batch contains a message
 * of the same session, so that none overtakes the refused one; the outcome names each refused
 * message.
 */
final class SendMessages {
  private static final int BATCH_BYTES = 1 << 20;

  private final SqsCalls calls;
  private final RecentIds recent;

  SendMessages(SqsCalls calls, RecentIds recent) {
    this.calls = calls;
    this.recent = recent;
  }

  List<SendOutcome> send(List<Message> messages) {
    var outcomes = new HashMap<Integer, SendOutcome>();
    var stopped = new HashSet<Optional<SessionId>>();
    var batch = new ArrayList<Numbered>();
    int bytes = 0;
    for (int i = 0; i < messages.size(); i++) {
      var encoded = MessageCodec.encode(messages.get(i));
      if (batch.size() == SqsCalls.BATCH || bytes + encoded.size() > BATCH_BYTES) {
        flush(batch, outcomes, stopped);
        batch.clear();
        bytes = 0;
      }
      batch.add(new Numbered(i, messages.get(i), encoded));
      bytes += encoded.size();
    }
    flush(batch, outcomes, stopped);
    var inOrder = new ArrayList<SendOutcome>();
    for (int i = 0; i < messages.size(); i++) {
      inOrder.add(
          outcomes.getOrDefault(
              i, new SendOutcome.Refused(messages.get(i).id(), "SQS did not answer for it")));
    }
    return inOrder;
  }

  private void flush(
      List<Numbered> batch, Map<Integer, SendOutcome> outcomes, Set<Optional<SessionId>> stopped) {
    var wanted = new ArrayList<Numbered>();
    for (var each : batch) {
      var earlier = recent.find(each.message().id());
      if (each.message().session().isPresent() && stopped.contains(each.message().session())) {
        outcomes.put(each.place(), refused(each, "an earlier message of its session was refused"));
      } else if (earlier.isPresent() && !calls.isOrdered()) {
        // A standard queue does not detect duplicates; this process knows its own.
        outcomes.put(each.place(), new SendOutcome.Duplicate(each.message().id(), earlier.get()));
      } else {
        wanted.add(each);
        if (!calls.isOrdered()) {
          recent.add(each.message().id(), 0);
        }
      }
    }
    if (!wanted.isEmpty()) {
      send(wanted, outcomes, stopped);
    }
  }

  private void send(
      List<Numbered> batch, Map<Integer, SendOutcome> outcomes, Set<Optional<SessionId>> stopped) {
    Map<Integer, SqsCalls.Sent> results;
    try {
      results = calls.send(batch.stream().map(Numbered::encoded).toList());
    } catch (KeeperException e) {
      batch.forEach(each -> forgetUnordered(each));
      // If the answer of a batch was lost, none of its messages may be reported as refused.
      if (outcomes.isEmpty() || e instanceof KeeperException.OutcomeUnknown) {
        throw e;
      }
      for (var each : batch) {
        outcomes.put(each.place(), refused(each, String.valueOf(e.getMessage())));
        stopped.add(each.message().session());
      }
      return;
    }
    for (int i = 0; i < batch.size(); i++) {
      var each = batch.get(i);
      var result = results.getOrDefault(i, new SqsCalls.Sent(0, "SQS did not answer for it"));
      if (result.isRefused()) {
        forgetUnordered(each);
        stopped.add(each.message().session());
        outcomes.put(each.place(), refused(each, result.refusal()));
      } else {
        outcomes.put(each.place(), stored(each, result.sequence()));
      }
    }
  }

  private void forgetUnordered(Numbered each) {
    if (!calls.isOrdered()) {
      recent.forget(each.message().id());
    }
  }

  /**
   * Returns the outcome of a stored message. SQS answers a duplicate with the sequence number of
   * the first message, which this process may know.
   */
  private SendOutcome stored(Numbered each, long sequence) {
    var id = each.message().id();
    var earlier = recent.find(id);
    if (calls.isOrdered() && earlier.isPresent() && earlier.get() == sequence) {
      return new SendOutcome.Duplicate(id, sequence);
    }
    recent.add(id, sequence);
    return new SendOutcome.Stored(id, sequence);
  }

  private static SendOutcome refused(Numbered each, String reason) {
    return new SendOutcome.Refused(each.message().id(), reason);
  }

  private record Numbered(int place, Message message, Outgoing encoded) {}
}
