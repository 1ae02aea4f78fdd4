import { authorizers } from '@sluice/authorization';
import type { AuthorizationPort } from '@sluice/core';
import type { LoadWatch, Runtime } from '@sluice/host';
import type { Asking } from '@sluice/mcp';
import type { Caller } from './callers.js';
import type { CallsService } from './calls.service.js';
import type { InTurn } from './in-turn.js';
import type { Limits } from './limits.js';
import type { SessionStates } from './session-states.js';
import type { StateCredentials } from './state-credentials.js';
import type { Tasks } from './tasks.js';

/** What every server of the SDK works with here. */
export interface ServerParts {
  readonly runtime: Runtime;
  readonly calls: CallsService;
  readonly states: SessionStates;
  readonly credentials: StateCredentials;
  readonly limits: Limits;
  /** Calls that clients have as tasks. */
  readonly tasks: Tasks;
  /** Measures what rules on load go by. */
  readonly loads: LoadWatch;
  /** Who says what a caller is permitted, by the configuration in force. */
  readonly authorizer: () => AuthorizationPort;
  readonly version: string;
}

/** What a list for the caller goes by in this session. */
export async function askingOf(
  { principal, claims }: Pick<Caller, 'principal' | 'claims'>,
  session: string | null,
  { runtime, states, loads }: Pick<ServerParts, 'runtime' | 'states' | 'loads'>,
): Promise<Asking> {
  const loaded = runtime.configurations.current();
  const [state, measured] = await Promise.all([states.stateOf(session, principal), loads.measured(loaded)]);
  return { caller: principal, claims, state, measured, now: runtime.clock.now() };
}

/** The authorizer of the configuration in force. */
export function authorizerOf({ configurations }: Pick<Runtime, 'configurations'>): () => AuthorizationPort {
  const made = authorizers();
  return () => made(configurations.current().configuration);
}

export type CallsInTurn = Pick<InTurn, 'alone' | 'besides'>;

/** The token under which Nest injects them. */
export const SERVER_PARTS = Symbol('server-parts');
