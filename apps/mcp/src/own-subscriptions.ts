import type { WatchedResource } from '@sluice/contracts';
import { mostSubscriptions } from '@sluice/mcp';
import type { SessionSubscriptions } from './connection.js';

/** The subscriptions of a session that is one connection, and ends with it. */
export class OwnSubscriptions implements SessionSubscriptions {
  private readonly byUri = new Map<string, WatchedResource>();

  add(watched: WatchedResource): Promise<boolean> {
    const hasRoom = this.byUri.has(watched.uri) || this.byUri.size < mostSubscriptions;
    if (hasRoom) this.byUri.set(watched.uri, watched);
    return Promise.resolve(hasRoom);
  }

  remove(uri: string): Promise<void> {
    this.byUri.delete(uri);
    return Promise.resolve();
  }

  has({ server, uri }: WatchedResource): boolean {
    return this.byUri.get(uri)?.server === server;
  }

  all(): readonly WatchedResource[] {
    return [...this.byUri.values()];
  }
}
