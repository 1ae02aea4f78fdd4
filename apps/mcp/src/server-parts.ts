import { authorizers } from '@sluice/authorization';
import type { AuthorizationPort } from '@sluice/core';
import type { Runtime } from '@sluice/host';
import type { AskingParts } from './asking.js';
import type { CallsService } from './calls.service.js';
import type { InTurn } from './in-turn.js';
import type { Limits } from './limits.js';
import type { ResourceWatches } from './resource-watches.js';
import type { StateCredentials } from './state-credentials.js';
import type { Tasks } from './tasks.js';

/** What every server of the SDK works with here. */
export interface ServerParts extends AskingParts {
  readonly calls: CallsService;
  readonly credentials: StateCredentials;
  readonly limits: Limits;
  /** Calls that clients have as tasks. */
  readonly tasks: Tasks;
  /** Who says what a caller is permitted, by the configuration in force. */
  readonly authorizer: () => AuthorizationPort;
  /** The resources of upstream servers that clients subscribed to. */
  readonly watches: ResourceWatches;
  readonly version: string;
}

/** The authorizer of the configuration in force. */
export function authorizerOf({ configurations }: Pick<Runtime, 'configurations'>): () => AuthorizationPort {
  const made = authorizers();
  return () => made(configurations.current().configuration);
}

export type CallsInTurn = Pick<InTurn, 'alone' | 'besides'>;

/** The token under which Nest injects them. */
export const SERVER_PARTS = Symbol('server-parts');
