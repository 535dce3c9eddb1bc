import type { components } from "./api.js";
import { type Http, seg, sleep } from "./http.js";

type Schemas = components["schemas"];
type WorkSession = Schemas["WorkAnswerWorkSession"];
type WorkSettle = Schemas["WorkRequestWorkSettle"];
type Settlement = Schemas["SettleRequestItem"];
export type Message = Schemas["DeliveryView"];

/** Throw it to have the message again after this time. Its session waits, so its order holds. */
export class RetryLater extends Error {
  override readonly name = "RetryLater";
  constructor(readonly delayMs: number, reason = "") {
    super(reason);
  }
}

/** Throw it to set the message aside and let its session go on. */
export class DeadLetter extends Error {
  override readonly name = "DeadLetter";
}

/** A session in hand. Its messages are handled one at a time, in order. */
export interface Session {
  readonly id: string;
  /** The fencing token: pass it to stores that must refuse an earlier owner. */
  readonly epoch: number;
  /** Aborted when the lease is lost: stop, the next owner gets the message. */
  readonly signal: AbortSignal;
  /** The session's memory; written together with the settlements of its messages. */
  state: Uint8Array | undefined;
}

/** Returning completes the message, throwing retries it. */
export type Handler = (message: Message, session: Session) => unknown;

export interface WorkOptions {
  /** Sessions that are handled at once. Default: 16. */
  sessions?: number;
  /** Messages of a session that are fetched at once. Default: 10. */
  messages?: number;
  /** How long a poll waits for work. Default: 20 seconds. */
  waitMs?: number;
  /** A name for people. */
  owner?: string;
  /** Whether the memory of sessions is read. Default: false. */
  state?: boolean;
  /** The delay before the next attempt. Default: a second, doubling, at most a minute. */
  retryDelayMs?: (attempt: number) => number;
  /** Gets every error of a handler that becomes a retry. Default: `console.error`. */
  onError?: (error: unknown, message: Message, session: Session) => void;
}

interface InHand extends Session {
  readonly leaseId: string;
  readonly messages: Message[];
  readonly lost: AbortController;
  before: Uint8Array | undefined;
  renewAt: number;
  renewEvery: number;
}

/**
 * Works on a queue until it is stopped. A poll waits for free places; a finished session is settled
 * at once, in a round that also takes the next one. Every round has an id and is repeated, on any
 * server, until it is answered: so a lost answer loses and doubles nothing.
 */
export class Worker {
  private readonly held = new Map<string, InHand>();
  private readonly running = new Set<Promise<void>>();
  private readonly stopping = new AbortController();
  private readonly done: WorkSettle[] = [];
  private polled = 0;
  private settling: Promise<void> | undefined;
  private failure: { readonly reason: unknown } | undefined;
  private readonly loops: Promise<unknown>;

  constructor(
    private readonly http: Http,
    private readonly queue: string,
    private readonly handler: Handler,
    private readonly options: WorkOptions = {},
  ) {
    this.loops = Promise.all([this.poll(), this.renew()].map((loop) => loop.catch((e: unknown) => this.fail(e))));
  }

  /** Ends the worker. It is told, because not every program awaits `ended`. */
  private fail(reason: unknown): void {
    if (!this.failure) {
      this.failure = { reason };
      console.error(`The worker of queue ${this.queue} ends:`, reason);
    }
    this.stopping.abort();
  }

  /** Resolves when the worker has ended; rejects when the server refuses it for good. */
  get ended(): Promise<void> {
    return this.loops.then(async () => {
      await this.drained();
      if (this.failure) throw this.failure.reason;
    });
  }

  /** Takes no new session, finishes the messages in hand, settles them and gives all leases back. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.ended;
  }

  private get most(): number {
    return this.options.sessions ?? 16;
  }

  private async poll(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      const free = this.most - this.held.size;
      if (free <= 0) {
        await Promise.race([...this.running, sleep(1_000, this.stopping.signal)]);
        continue;
      }
      this.polled = free;
      const requestId = crypto.randomUUID();
      try {
        const wait = `PT${(this.options.waitMs ?? 20_000) / 1_000}S`;
        const answer = await this.round(requestId, [], [], free, wait, this.stopping.signal);
        this.polled = 0;
        this.begin(answer.sessions);
      } catch (e) {
        this.polled = 0;
        if (!this.stopping.signal.aborted) throw e;
        // The poll may have taken sessions whose answer was cut off: find them, and give them back.
        const cut = await this.round(requestId, [], [], 0, "PT0S");
        this.giveBack(cut.sessions);
      }
    }
  }

  private giveBack(sessions: WorkSession[]): void {
    for (const { leaseId } of sessions) {
      this.done.push({ leaseId, then: "release" });
    }
    this.settle();
  }

  private round(
    requestId: string,
    settle: WorkSettle[],
    renew: string[],
    sessions: number,
    wait: string,
    signal?: AbortSignal,
  ): Promise<Schemas["WorkAnswer"]> {
    const messages = this.options.messages ?? 10;
    const state = this.options.state ?? false;
    return this.http.json({
      method: "POST",
      path: `/queues/${seg(this.queue)}/work`,
      body: {
        requestId,
        ...(this.options.owner ? { owner: this.options.owner } : {}),
        ...(settle.length > 0 ? { settle } : {}),
        ...(renew.length > 0 ? { renew } : {}),
        // Sessions that go on have the same limits; without a take the server's defaults hold.
        ...(sessions > 0 ? { take: { sessions, messages, wait, state } } : {}),
      },
      ...(signal ? { signal } : {}),
      repeatable: true,
      forever: true,
    });
  }

  private begin(sessions: WorkSession[]): void {
    for (const session of sessions) {
      const lost = new AbortController();
      const state = session.state === undefined ? undefined : fromBase64(session.state);
      // A clock that is wrong makes renewals frequent, never late by more than a second.
      const left = Date.parse(session.lockedUntil) - Date.now();
      const renewEvery = Math.min(10_000, Math.max(1_000, left / 3));
      const inHand: InHand = {
        id: session.sessionId, epoch: session.epoch, leaseId: session.leaseId,
        messages: session.messages, signal: lost.signal, lost, state, before: state,
        renewAt: Date.now() + renewEvery, renewEvery,
      };
      this.held.set(session.leaseId, inHand);
      const task = this.handle(inHand).finally(() => this.running.delete(task));
      this.running.add(task);
    }
  }

  /** Handles the messages of a session in order, up to the first that is not completed. */
  private async handle(session: InHand): Promise<void> {
    const completed: number[] = [];
    const settlements: Settlement[] = [];
    let isWhole = session.messages.length >= (this.options.messages ?? 10);
    for (const message of session.messages) {
      if (session.signal.aborted) return;
      try {
        await this.handler(message, session);
        // The server completes these before it looks at the settlements, so the order holds.
        if (settlements.length === 0) completed.push(message.sequence);
        else settlements.push({ sequence: message.sequence, action: "complete" });
      } catch (e) {
        const settlement = this.failed(message, session, e);
        settlements.push(settlement);
        if (settlement.action === "retry") {
          isWhole = false;
          break;
        }
      }
      if (this.stopping.signal.aborted) {
        isWhole = false;
        break;
      }
    }
    if (session.signal.aborted) return;
    this.done.push({
      leaseId: session.leaseId,
      completed,
      ...(settlements.length > 0 ? { settlements } : {}),
      ...(session.state !== session.before && session.state ? { state: toBase64(session.state) } : {}),
      then: isWhole ? "next" : "release",
    });
    this.settle();
  }

  private failed(message: Message, session: Session, error: unknown): Settlement {
    const reason = String(error instanceof Error ? error.message || error.name : error).slice(0, 1_000);
    if (error instanceof DeadLetter) return { sequence: message.sequence, action: "deadLetter", reason };
    const delay = error instanceof RetryLater ? error.delayMs : this.tell(message, session, error);
    return { sequence: message.sequence, action: "retry", delay: `PT${delay / 1_000}S`, reason };
  }

  /** Tells of a failure; returns the delay before the next attempt. */
  private tell(message: Message, session: Session, error: unknown): number {
    try {
      (this.options.onError ?? tellConsole)(error, message, session);
      return (this.options.retryDelayMs ?? usualDelayMs)(message.attempt);
    } catch (e) {
      console.error("onError or retryDelayMs failed:", e); // The failure of the message counts, not this one.
      return usualDelayMs(message.attempt);
    }
  }

  private settle(): void {
    this.settling ??= this.settleAll()
      .catch((e: unknown) => this.fail(e))
      .finally(() => (this.settling = undefined));
  }

  /** Settles what is done, and takes as many sessions as it gives back. */
  private async settleAll(): Promise<void> {
    // Sessions that end in the same moment share a round.
    await Promise.resolve();
    while (this.done.length > 0) {
      const batch = this.done.splice(0, 256);
      const freed = batch.filter((entry) => entry.then === "release").length;
      const places = this.most - this.held.size - this.polled + freed;
      const take = this.stopping.signal.aborted ? 0 : Math.max(0, Math.min(freed, places));
      const answer = await this.round(crypto.randomUUID(), batch, [], take, "PT0S");
      const open = batch.filter((_, i) => answer.settled[i]?.outcome === "unavailable");
      for (const [i, { leaseId }] of batch.entries()) {
        const outcome = answer.settled[i]?.outcome;
        if (outcome === "lost" || outcome === "outOfOrder" || outcome === "staleState") {
          const session = this.held.get(leaseId)?.id ?? leaseId;
          console.error(`Settlements of session ${session} changed nothing (${outcome}); its messages come again`);
          if (outcome !== "lost") open.push({ leaseId, then: "release" });
        }
        this.held.delete(leaseId);
      }
      if (open.length > 0) {
        this.done.push(...open);
        await sleep(500);
      }
      if (this.stopping.signal.aborted) this.giveBack(answer.sessions);
      else this.begin(answer.sessions);
    }
  }

  private async renew(): Promise<void> {
    while (!this.stopping.signal.aborted || this.running.size > 0) {
      await sleep(250);
      const due = [...this.held.values()].filter((session) => session.renewAt <= Date.now());
      if (due.length === 0) continue;
      for (const session of due) session.renewAt = Date.now() + session.renewEvery;
      const answer = await this.round(crypto.randomUUID(), [], due.map((s) => s.leaseId), 0, "PT0S");
      for (const { leaseId, held } of answer.renewed) {
        if (!held) {
          this.held.get(leaseId)?.lost.abort(new Error("The lease is lost"));
          this.held.delete(leaseId);
        }
      }
    }
  }

  private async drained(): Promise<void> {
    while (this.running.size > 0 || this.settling || this.done.length > 0) {
      await Promise.allSettled([...this.running]);
      this.settle();
      await this.settling;
    }
  }
}

const usualDelayMs = (attempt: number): number => Math.min(60_000, 1_000 * 2 ** (attempt - 1));
const tellConsole = (error: unknown, message: Message, session: Session): void =>
  console.error(`Message ${message.messageId} of session ${session.id} failed in attempt ${message.attempt}:`, error);
const toBase64 = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
const fromBase64 = (text: string): Uint8Array => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
