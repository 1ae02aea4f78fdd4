import { sessionKey } from '@sluice/mcp';
import type { Principal } from '@sluice/core';
import type { Runtime } from '@sluice/host';

/** How long what a session knows is kept behind its last use, in milliseconds. */
export const sessionKeptMs = 24 * 3_600_000;

/** The session of a state credential, as one that no session of the older era is named like. */
export function stateSession({ session }: { readonly session: string }): string {
  return `state-${session}`;
}

/** A call that waits for a decision: the same call again is this run. */
interface WaitingCall {
  readonly requestId: string;
  /** Milliseconds since the epoch; no record of the run is older. */
  readonly since: number;
}

type Keeping = Pick<Runtime, 'documents' | 'clock'>;

/** What sessions know beside their connections, in the ledger’s database, so that any instance can serve them. */
export class SessionStates {
  constructor(private readonly runtime: Keeping) {}

  /** The state that the session’s own successful calls led to; null at its beginning. */
  async stateOf(session: string | null, principal: Principal): Promise<string | null> {
    if (session === null) return null;
    return this.read<string>(stateKey(session, principal));
  }

  async move(session: string, principal: Principal, state: string | null): Promise<void> {
    await this.write(stateKey(session, principal), state);
  }

  waiting(session: string, principal: Principal, digest: string): Promise<WaitingCall | null> {
    return this.read<WaitingCall>(waitingKey(session, principal, digest));
  }

  async keepWaiting(session: string, principal: Principal, digest: string, call: WaitingCall | null): Promise<void> {
    await this.write(waitingKey(session, principal, digest), call);
  }

  private async read<T>(key: string): Promise<T | null> {
    const found = await this.runtime.documents.find(key);
    return found === undefined ? null : (JSON.parse(found.text) as T | null);
  }

  /** The last one wins: calls that move a state run one after another in their session. */
  private async write(key: string, value: unknown): Promise<void> {
    const { documents, clock } = this.runtime;
    const text = JSON.stringify(value);
    for (;;) {
      const { version } = (await documents.find(key)) ?? { version: 0 };
      if (await documents.put(key, version + 1, text, clock.now() + sessionKeptMs)) return;
    }
  }
}

/** Under which the state of a session is kept. */
export function stateKey(session: string, principal: Principal): string {
  return `mcp/state/${sessionKey(session, principal)}`;
}

function waitingKey(session: string, principal: Principal, digest: string): string {
  return `mcp/waiting/${sessionKey(session, principal)}/${digest}`;
}
