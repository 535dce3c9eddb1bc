import { backoff, type Http, query, seg, sleep } from "./http.js";
import { ProblemError } from "./problem.js";

export interface StreamEvent<T = unknown> {
  /** The id to resume from: the event's number, or its publisher's own id. */
  readonly id: string;
  /** The number of the event in its stream. */
  readonly number: number;
  readonly event: string;
  readonly data: T;
}

export interface SubscribeOptions {
  /** Where a new subscriber begins: `start`, `end` or an event id. Default: `end`. */
  from?: string;
  /** Events that may be handled before they are acknowledged together. Default: 100. */
  ackEvery?: number;
  /** A token of `POST /streams/{stream}/tokens` instead of a credential. */
  token?: () => Promise<string>;
  /** Gets the bounds of events that retention removed before this subscriber saw them. */
  onGap?: (gap: { lastEventId: number; firstId: number }) => void;
  /** Gets every error of the handler; the event comes again. Default: `console.error`. */
  onError?: (error: unknown, event: StreamEvent) => void;
}

const SILENCE_MS = 75_000;
const tellConsole = (error: unknown, event: StreamEvent): void =>
  console.error(`Event ${event.id} failed and comes again:`, error);

/**
 * Reads a stream as a named subscriber and acknowledges events after they were handled, never
 * before. A handler that throws gets the same event again. Ends when it is stopped.
 */
export class Subscription {
  private readonly stopping = new AbortController();
  private readonly loop: Promise<void>;
  private lastId: string | undefined;
  private lastNumber = -1;
  private unacknowledged = 0;
  private acknowledging: Promise<void> = Promise.resolve();

  constructor(
    private readonly http: Http,
    private readonly stream: string,
    private readonly name: string,
    private readonly handler: (event: StreamEvent) => unknown,
    private readonly options: SubscribeOptions = {},
  ) {
    this.loop = this.run();
    // Told, because not every program awaits `ended`.
    this.loop.catch((e: unknown) => console.error(`The subscription ${name} of stream ${stream} ends:`, e));
  }

  /** Resolves when the subscription has ended; rejects when the server refuses it for good. */
  get ended(): Promise<void> {
    return this.loop;
  }

  /** Finishes the event in hand, acknowledges it and ends. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.loop;
  }

  private get path(): string {
    return `/streams/${seg(this.stream)}`;
  }

  private async run(): Promise<void> {
    if (!this.options.token) {
      await this.http.json({
        method: "PUT",
        path: `${this.path}/subscribers/${seg(this.name)}`,
        body: { from: this.options.from ?? "end" },
        repeatable: true,
        forever: true, // A server that is away for long ends no subscription.
        signal: this.stopping.signal,
      }).catch((e: unknown) => {
        if (!this.stopping.signal.aborted) throw e;
      });
    }
    for (let failures = 0; !this.stopping.signal.aborted; failures++) {
      try {
        const token = await this.options.token?.();
        const response = await this.http.once({
          method: "GET",
          path: `${this.path}/events${query({ subscriber: this.name, ack: "explicit", token })}`,
          headers: { Accept: "text/event-stream", ...(this.lastId ? { "Last-Event-ID": this.lastId } : {}) },
          signal: this.stopping.signal,
          timeoutMs: 2 ** 31 - 1,
        });
        if (!response.ok) {
          const problem = await ProblemError.of(response);
          if (!problem.isTransient && !(problem.status === 401 && this.options.token)) throw problem;
        } else if (await this.read(response)) {
          failures = 0;
        }
      } catch (e) {
        if (e instanceof ProblemError && !e.isTransient) throw e;
      }
      this.http.next();
      await sleep(backoff(failures), this.stopping.signal);
    }
    await this.acknowledge();
  }

  /** Reads until the connection ends; returns whether an event was handled. */
  private async read(response: Response): Promise<boolean> {
    let handled = false;
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let silence = setTimeout(() => void reader.cancel(), SILENCE_MS);
    try {
      let text = "";
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        clearTimeout(silence);
        silence = setTimeout(() => void reader.cancel(), SILENCE_MS);
        text += part.value;
        for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
          const frame = text.slice(0, end);
          text = text.slice(end + 2);
          if (!(await this.handle(frame))) return handled;
          handled = true;
          if (this.stopping.signal.aborted) return handled;
        }
      }
    } finally {
      clearTimeout(silence);
      await reader.cancel().catch(() => undefined);
    }
    return handled;
  }

  /** Handles one event; returns false when the handler failed and the event must come again. */
  private async handle(frame: string): Promise<boolean> {
    const fields = new Map<string, string>();
    for (const line of frame.split("\n")) {
      const colon = line.indexOf(":");
      if (colon <= 0) continue;
      const name = line.slice(0, colon);
      const value = line.slice(colon + 1).replace(/^ /, "");
      fields.set(name, name === "data" && fields.has(name) ? `${fields.get(name)}\n${value}` : value);
    }
    const data = fields.get("data");
    const id = fields.get("id");
    if (data === undefined || id === undefined) return true;
    const number = Number(fields.get("number") ?? id);
    if (fields.get("event") === "gap") {
      this.options.onGap?.(JSON.parse(data) as { lastEventId: number; firstId: number });
    } else if (number > this.lastNumber) {
      const event = { id, number, event: fields.get("event") ?? "message", data: JSON.parse(data) as unknown };
      try {
        await this.handler(event);
      } catch (e) {
        (this.options.onError ?? tellConsole)(e, event);
        return false;
      }
    }
    this.lastId = id;
    this.lastNumber = Math.max(number, this.lastNumber);
    if (++this.unacknowledged >= (this.options.ackEvery ?? 100)) await this.acknowledge();
    else this.acknowledgeSoon();
    return true;
  }

  private timer: ReturnType<typeof setTimeout> | undefined;

  private acknowledgeSoon(): void {
    const again = () => {
      if (!this.stopping.signal.aborted) this.acknowledgeSoon();
    };
    this.timer ??= setTimeout(() => void this.acknowledge().catch(again), 200);
  }

  private acknowledge(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.acknowledging = this.acknowledging.catch(() => undefined).then(async () => {
      const handled = this.unacknowledged;
      if (handled === 0 || this.lastId === undefined) return;
      const token = await this.options.token?.();
      await this.http.json({
        method: "POST",
        path: `${this.path}/subscribers/${seg(this.name)}/ack${query({ token })}`,
        body: { lastEventId: this.lastId },
        repeatable: true,
      });
      this.unacknowledged -= handled;
    });
    return this.acknowledging;
  }
}
