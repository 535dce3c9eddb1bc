import { parseExact } from "./exact.js";
import { ProblemError, UnreachableError } from "./problem.js";

export interface KeeperOptions {
  /** The addresses of the servers of one store. A request goes to the next one when one fails. */
  servers: string | readonly string[];
  /** An API key or a JWT; a function is asked before every request. */
  credential?: string | (() => string | Promise<string>);
  /** How long a request is repeated before it fails. Default: 30 seconds. */
  patienceMs?: number;
  fetch?: typeof fetch;
}

export interface Call {
  method: string;
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** Fields whose numbers are decimals. Without them the answer is plain JSON. */
  decimals?: readonly string[];
  /** Whether a repetition does no harm. Only such calls are repeated when no server answered. */
  repeatable?: boolean;
  /** Longer than the patience: until the caller aborts. */
  forever?: boolean;
  /** How long one try may take. Default: 75 seconds, longer than the longest wait. */
  timeoutMs?: number;
}

export const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done);
  });

/** Jittered exponential backoff, at most five seconds. */
export const backoff = (failures: number): number =>
  Math.min(5_000, 50 * 2 ** Math.min(failures, 10)) * (0.5 + Math.random() / 2);

/** Sends requests: to the next server when one fails, with the same body, until one answers. */
export class Http {
  private readonly servers: readonly string[];
  private readonly fetch: typeof fetch;
  private turn = 0;

  constructor(private readonly options: KeeperOptions) {
    const servers = typeof options.servers === "string" ? [options.servers] : options.servers;
    if (servers.length === 0) throw new TypeError("servers must name at least one address");
    this.servers = servers.map((server) => server.replace(/\/+$/, ""));
    this.turn = Math.floor(Math.random() * this.servers.length);
    this.fetch = options.fetch ?? ((...args) => globalThis.fetch(...args));
  }

  /** The answer as JSON; undefined for 204. */
  async json<T>(call: Call): Promise<T> {
    const text = await this.send(call);
    if (text === "") return undefined as T;
    return call.decimals ? parseExact<T>(text, call.decimals) : (JSON.parse(text) as T);
  }

  /** The text of a good answer. An answer that breaks off counts as none. */
  private async send(call: Call): Promise<string> {
    const start = Date.now();
    for (let failures = 0; ; failures++) {
      let failure: Error;
      try {
        const response = await this.once(call);
        if (response.ok) return await response.text();
        const problem = await ProblemError.of(response);
        if (!problem.isTransient || !call.repeatable) throw problem;
        failure = problem;
      } catch (e) {
        if (call.signal?.aborted || e instanceof ProblemError) throw e;
        failure = new UnreachableError(`${call.method} ${call.path}: ${String(e)}`, { cause: e });
        if (!call.repeatable) throw failure;
      }
      this.turn++;
      const patience = this.options.patienceMs ?? 30_000;
      if (!call.forever && Date.now() - start > patience) throw failure;
      await sleep(backoff(failures), call.signal);
      if (call.signal?.aborted) throw failure;
    }
  }

  /** One try, on the server whose turn it is. */
  async once(call: Call): Promise<Response> {
    const { credential } = this.options;
    const secret = typeof credential === "function" ? await credential() : credential;
    const timeout = AbortSignal.timeout(call.timeoutMs ?? 75_000);
    const signal = call.signal ? AbortSignal.any([call.signal, timeout]) : timeout;
    return this.fetch(this.servers[this.turn % this.servers.length] + call.path, {
      method: call.method,
      headers: {
        ...(call.body === undefined ? {} : { "Content-Type": "application/json" }),
        ...(secret ? { Authorization: `Bearer ${secret}` } : {}),
        ...call.headers,
      },
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      signal,
    });
  }

  /** The next request goes to another server. */
  next(): void {
    this.turn++;
  }
}

export const seg = encodeURIComponent;

export const query = (values: Record<string, string | number | boolean | undefined>): string => {
  const pairs = Object.entries(values).filter(([, value]) => value !== undefined);
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs.map(([k, v]) => [k, String(v)]))}`;
};
