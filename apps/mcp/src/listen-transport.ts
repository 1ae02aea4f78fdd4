import { isJSONRPCRequest } from '@modelcontextprotocol/server';
import type { JSONRPCMessage, MessageExtraInfo, Transport } from '@modelcontextprotocol/server';
import type { WatchedResource } from '@sluice/contracts';
import type { JsonObject } from '@sluice/core';
import { admitStream, refusal } from './listen-streams.js';
import type { Opening } from './listen-streams.js';
import type { ResourceWatches } from './resource-watches.js';

type Id = string | number;

/**
 * The connection of one client, whose requests for streams of the newest revision (`subscriptions/listen`) reach the
 * SDK as far as they are admitted; the SDK sends what the streams are for.
 */
export class ListenTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: <T extends JSONRPCMessage>(message: T, extra?: MessageExtraInfo) => void;
  /** By the ids of their requests; null for one that is looked at. */
  private readonly streams = new Map<Id, ReadonlyMap<string, WatchedResource> | null>();

  constructor(
    private readonly inner: Transport,
    private readonly opening: Opening,
    private readonly watches: ResourceWatches,
  ) {}

  async start(): Promise<void> {
    this.inner.onclose = () => this.onclose?.();
    this.inner.onerror = (error) => this.onerror?.(error);
    this.inner.onmessage = (message, extra) => {
      if (isJSONRPCRequest(message) && message.method === 'subscriptions/listen')
        void this.listen(message.id, message as unknown as JsonObject).catch((error: unknown) =>
          this.onerror?.(error as Error),
        );
      else {
        const ended = cancelledBy(message);
        if (ended !== undefined) this.streams.delete(ended);
        this.onmessage?.(message, extra);
      }
    };
    await this.inner.start();
  }

  send(message: JSONRPCMessage): Promise<void> {
    return this.inner.send(message);
  }

  close(): Promise<void> {
    this.streams.clear();
    return this.inner.close();
  }

  has({ server, uri }: WatchedResource): boolean {
    return [...this.streams.values()].some((stream) => stream?.get(uri)?.server === server);
  }

  all(): readonly WatchedResource[] {
    return [...this.streams.values()].flatMap((stream) => [...(stream?.values() ?? [])]);
  }

  private async listen(id: Id, message: JsonObject): Promise<void> {
    this.streams.set(id, null);
    const admitted = await admitStream(message, this.opening, this.watches);
    // It was cancelled meanwhile.
    if (!this.streams.has(id)) return;
    if ('refused' in admitted) {
      this.streams.delete(id);
      return this.inner.send(refusal(id, admitted.refused) as unknown as JSONRPCMessage);
    }
    this.streams.set(id, admitted.watched);
    this.onmessage?.(admitted.message as unknown as JSONRPCMessage);
  }
}

/** The request that its client no longer wants answered. */
function cancelledBy(message: JSONRPCMessage): Id | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined;
  const id = message.params?.['requestId'];
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}
