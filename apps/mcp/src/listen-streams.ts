import { AsyncLocalStorage } from 'node:async_hooks';
import type { ServerEvent, ServerEventBus } from '@modelcontextprotocol/server';
import type { WatchedResource } from '@sluice/contracts';
import { isJsonObject } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';
import { mostSubscriptions } from '@sluice/mcp';
import type { Caller } from './callers.js';
import type { PassedOn } from './passed-on.js';
import { keepMs } from './resource-watches.js';
import type { ResourceWatches } from './resource-watches.js';
import { watch } from './serve-subscriptions.js';

type Listener = (event: ServerEvent) => void;

/** Whose stream it is, and the resources that it was opened for. */
interface Listening {
  readonly caller: Caller;
  /** The session of a state credential; null for none. */
  readonly session: string | null;
  readonly watched: ReadonlyMap<string, WatchedResource>;
}

/** Who opens a stream. */
export interface Opening extends Omit<Listening, 'watched'> {
  readonly passedOn: PassedOn;
  readonly signal: AbortSignal;
}

const invalidParams = -32_602;

/**
 * The streams of the newest revision on which clients hear what changed (`subscriptions/listen`). The SDK writes them;
 * here it is known whose each is, so that a change of a resource reaches those alone who may still read it.
 */
export class ListenStreams implements ServerEventBus {
  private readonly open = new Map<Listener, Listening | null>();
  /** Of the request that the SDK serves now. */
  private readonly opening = new AsyncLocalStorage<Listening>();
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly watches: ResourceWatches) {
    this.timer = setInterval(() => void this.keep(), keepMs).unref();
  }

  publish(event: ServerEvent): void {
    for (const listener of [...this.open.keys()]) listener(event);
  }

  subscribe(listener: Listener): () => void {
    this.open.set(listener, this.opening.getStore() ?? null);
    return () => void this.open.delete(listener);
  }

  /** Serves a request for a stream, as far as it is admitted. */
  async serve(
    message: JsonObject,
    opening: Opening,
    serve: (message: JsonObject) => Promise<Response>,
  ): Promise<Response> {
    const admitted = await admitStream(message, opening, this.watches);
    if ('refused' in admitted) return Response.json(refusal(message['id'] ?? null, admitted.refused));
    const { caller, session } = opening;
    const { watched } = admitted;
    return this.opening.run({ caller, session, watched }, () => serve(admitted.message));
  }

  /** A resource changed: who subscribed to it, and may still read it, hears so. */
  resourceUpdated(updated: WatchedResource): void {
    for (const [listener, listening] of this.open)
      if (listening?.watched.get(updated.uri)?.server === updated.server)
        void this.tell(listener, listening, updated).catch(() => undefined);
  }

  close(): void {
    clearInterval(this.timer);
  }

  private async tell(listener: Listener, { caller, session }: Listening, updated: WatchedResource): Promise<void> {
    if (!(await this.watches.mayHear(caller, session, updated)) || !this.open.has(listener)) return;
    listener({ kind: 'resource_updated', uri: updated.uri });
  }

  private async keep(): Promise<void> {
    await this.watches.keep([...this.open.values()].flatMap((one) => [...(one?.watched.values() ?? [])]));
  }
}

/**
 * The resources of a request for a stream that the caller may subscribe to stay in it, as the protocol has it: the
 * client hears which these are. Where nothing is left, why.
 */
export async function admitStream(
  message: JsonObject,
  { caller, passedOn, signal }: Opening,
  watches: ResourceWatches,
): Promise<{ readonly refused: string } | { readonly message: JsonObject; readonly watched: Listening['watched'] }> {
  const asked = resourcesIn(message);
  const watched = new Map<string, WatchedResource>();
  if (asked === null) return { message, watched };
  const { uris, others } = asked;
  if (uris.length > mostSubscriptions) return { refused: `A stream may be opened for ${mostSubscriptions} resources.` };
  const outcomes = await Promise.allSettled(uris.map((uri) => watch({ uri, caller, signal }, passedOn, watches)));
  for (const one of outcomes) if (one.status === 'fulfilled') watched.set(one.value.uri, one.value);
  const [refused] = outcomes.filter((one) => one.status === 'rejected');
  if (watched.size === 0 && refused !== undefined && !Object.values(others).includes(true))
    return { refused: (refused.reason as Error).message };
  const notifications = { ...others, ...(watched.size === 0 ? {} : { resourceSubscriptions: [...watched.keys()] }) };
  const params = { ...(message['params'] as JsonObject), notifications };
  return { message: { ...message, params }, watched };
}

/** The resources that a stream is asked for, each once, and what else; null where it is asked for none. */
function resourcesIn({ params }: JsonObject): { readonly uris: readonly string[]; readonly others: JsonObject } | null {
  if (!isJsonObject(params ?? null)) return null;
  const { notifications } = params as JsonObject;
  if (!isJsonObject(notifications ?? null)) return null;
  const { resourceSubscriptions, ...others } = notifications as JsonObject;
  if (!Array.isArray(resourceSubscriptions) || resourceSubscriptions.length === 0) return null;
  const uris = (resourceSubscriptions as readonly JsonValue[]).filter((uri) => typeof uri === 'string');
  // The SDK says what is wrong with it.
  return uris.length < resourceSubscriptions.length ? null : { uris: [...new Set(uris)], others };
}

/** As JSON-RPC has it. */
export function refusal(id: JsonValue, message: string): JsonObject {
  return { jsonrpc: '2.0', id, error: { code: invalidParams, message } };
}
