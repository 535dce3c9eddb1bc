package dev.sessionkeeper.testkit;

import dev.sessionkeeper.Owner;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.AddressableSessions;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.ResumableSessions;
import dev.sessionkeeper.spi.SessionSource;
import java.time.Duration;
import java.util.Optional;

/** The sessions of a {@link FaultyProvider}, with the optional interfaces of the wrapped ones. */
class FaultySessions implements SessionSource {
  private final SessionSource inner;
  private final InjectedFaults mishaps;

  FaultySessions(SessionSource inner, InjectedFaults mishaps) {
    this.inner = inner;
    this.mishaps = mishaps;
  }

  @Override
  public AcceptResult acceptNext(Owner owner, Duration wait) throws InterruptedException {
    mishaps.before("acceptNext");
    return faulty(inner.acceptNext(owner, wait));
  }

  @Override
  public boolean hasReadySession() {
    return inner.hasReadySession();
  }

  final AcceptResult faulty(AcceptResult result) {
    return result instanceof AcceptResult.Accepted accepted
        ? new AcceptResult.Accepted(new FaultySession(accepted.session(), mishaps))
        : result;
  }

  /** For providers that can lock a chosen session. */
  static class Addressable extends FaultySessions implements AddressableSessions {
    private final AddressableSessions inner;
    private final InjectedFaults mishaps;

    Addressable(AddressableSessions inner, InjectedFaults mishaps) {
      super(inner, mishaps);
      this.inner = inner;
      this.mishaps = mishaps;
    }

    @Override
    public AcceptResult accept(SessionId session, Owner owner, Duration wait)
        throws InterruptedException {
      mishaps.before("accept");
      return faulty(inner.accept(session, owner, wait));
    }
  }

  /** For providers whose leases live in the store. */
  static final class Resumable extends Addressable implements ResumableSessions {
    private final ResumableSessions inner;
    private final InjectedFaults mishaps;

    Resumable(ResumableSessions inner, InjectedFaults mishaps) {
      super(inner, mishaps);
      this.inner = inner;
      this.mishaps = mishaps;
    }

    @Override
    public Optional<HeldSession> resume(SessionId session, long epoch) {
      mishaps.before("resume");
      return inner.resume(session, epoch).map(held -> new FaultySession(held, mishaps));
    }

    @Override
    public HeldSession handle(SessionId session, long epoch) {
      return new FaultySession(inner.handle(session, epoch), mishaps);
    }
  }
}
