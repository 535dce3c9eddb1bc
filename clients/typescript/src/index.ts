import type { components } from "./api.js";
import type { Decimal } from "./exact.js";
import { Http, type KeeperOptions, query, seg } from "./http.js";
import { type StreamEvent, type SubscribeOptions, Subscription } from "./stream.js";
import { type Handler, Worker, type WorkOptions } from "./work.js";

export type { components, paths } from "./api.js";
export { type Decimal, parseExact } from "./exact.js";
export type { KeeperOptions } from "./http.js";
export { ProblemError, UnreachableError } from "./problem.js";
export { type StreamEvent, type SubscribeOptions, Subscription } from "./stream.js";
export { InvalidWebhookError, verifyWebhook } from "./webhook.js";
export { DeadLetter, type Handler, type Message, RetryLater, type Session, Worker, type WorkOptions } from "./work.js";

type Schemas = components["schemas"];
/** The same type with decimals as text. */
export type Exact<T, F extends keyof T> = Omit<T, F> & Record<F, Decimal>;
export type Outgoing = Partial<Schemas["SendRequestItem"]>;
export type Usage = Exact<Schemas["UsageItem"], "usage">;
export type UsageBatch = Exact<Schemas["BatchItem"], "usage">;
export type Published = Schemas["StreamPublished"];

const USAGE = ["usage"] as const;
const PROOF = [
  "activeMicros", "pendingMetering", "corrections", "ledger", "batches", "acknowledged", "pending", "dead", "forgotten",
] as const;

/** The servers of one store. Safe to share. */
export class KeeperClient {
  private readonly http: Http;

  constructor(options: KeeperOptions) {
    this.http = new Http(options);
  }

  /** Creates the queue, or changes its settings. */
  declareQueue(queue: string, settings: Schemas["QueueRequest"]): Promise<Schemas["QueueView"]> {
    return this.http.json({ method: "PUT", path: `/queues/${seg(queue)}`, body: settings, repeatable: true });
  }

  queue(queue: string): Promise<Schemas["QueueView"]> {
    return this.http.json({ method: "GET", path: `/queues/${seg(queue)}`, repeatable: true });
  }

  /** Sends messages in order, all or nothing. Ids are chosen once, so a repetition stores nothing twice. */
  async send(queue: string, messages: Outgoing | Outgoing[]): Promise<Schemas["SendAnswerItem"][]> {
    const all = (Array.isArray(messages) ? messages : [messages]).map((message) => ({
      messageId: crypto.randomUUID() as string,
      ...message,
    }));
    const path = `/queues/${seg(queue)}/messages`;
    const body = { messages: all };
    return (await this.http.json<Schemas["SendAnswer"]>({ method: "POST", path, body, repeatable: true })).messages;
  }

  /** Handles the messages of a queue: sessions at once, the messages of each in order. */
  work(queue: string, handler: Handler, options?: WorkOptions): Worker {
    return new Worker(this.http, queue, handler, options);
  }

  /** Publishes events in order, all or none; repeated under one key until a server answers. */
  async publish(stream: string, events: Schemas["PublishRequest"][]): Promise<Published[]> {
    const answer = await this.http.json<Schemas["StreamPublishedBatch"]>({
      method: "POST",
      path: `/streams/${seg(stream)}/events/batch`,
      body: { events },
      headers: { "Idempotency-Key": crypto.randomUUID() },
      repeatable: true,
    });
    return answer.events;
  }

  /** Reads a stream as a named subscriber that acknowledges what it has handled. */
  subscribe(stream: string, name: string, handler: (event: StreamEvent) => unknown, options?: SubscribeOptions): Subscription {
    return new Subscription(this.http, stream, name, handler, options);
  }

  /** A short-lived token for one stream, for a browser. */
  streamToken(stream: string, options: { subscriber?: string; ttl?: string } = {}): Promise<Schemas["TokenGranted"]> {
    const path = `/streams/${seg(stream)}/tokens${query({ subscriber: options.subscriber })}`;
    return this.http.json({ method: "POST", path, body: options.ttl ? { ttl: options.ttl } : {}, repeatable: true });
  }

  /** The registry of sessions. */
  readonly registry = {
    put: (request: Schemas["PutRequest"]): Promise<Schemas["RegistryItem"]> =>
      this.http.json({ method: "PUT", path: "/sessions", body: request, repeatable: true }),
    get: (id: string): Promise<Schemas["RegistryItem"]> =>
      this.http.json({ method: "GET", path: `/sessions/${seg(id)}`, repeatable: true }),
    renew: (id: string): Promise<Schemas["RegistryItem"]> =>
      this.http.json({ method: "POST", path: `/sessions/${seg(id)}/renew`, repeatable: true }),
    end: (id: string): Promise<Schemas["RegistryItem"]> =>
      this.http.json({ method: "DELETE", path: `/sessions/${seg(id)}`, repeatable: true }),
    list: (filter: { tenantObjectId?: string; userObjectId?: string; active?: boolean; limit?: number; cursor?: string } = {}): Promise<
      Schemas["RegistryItemListing"]
    > => this.http.json({ method: "GET", path: `/sessions${query(filter)}`, repeatable: true }),
  };

  /** Metered usage, with exact decimals. */
  readonly usage = {
    list: (filter: { tenantObjectId?: string; from?: string; to?: string; limit?: number; cursor?: string } = {}): Promise<{
      usages: Usage[];
      nextCursor?: string;
    }> => this.http.json({ method: "GET", path: `/usages${query(filter)}`, decimals: USAGE, repeatable: true }),
    batches: (filter: { tenantObjectId?: string; state?: string; limit?: number; cursor?: string } = {}): Promise<{
      batches: UsageBatch[];
      nextCursor?: string;
    }> => this.http.json({ method: "GET", path: `/usages/batches${query(filter)}`, decimals: USAGE, repeatable: true }),
    proof: (tenantObjectId?: string): Promise<{ tenants: Record<string, Decimal>[] }> =>
      this.http.json({ method: "GET", path: `/usages/proof${query({ tenantObjectId })}`, decimals: PROOF, repeatable: true }),
  };
}
