import type { LoggingLevel, ServerContext } from '@modelcontextprotocol/server';
import type { WatchedResource } from '@sluice/contracts';
import type { ServedTask } from '@sluice/mcp';
import type { Caller } from './callers.js';
import type { CallsInTurn } from './server-parts.js';

/** The resources that the client of a session is subscribed to. */
export interface SessionSubscriptions {
  /** False where there are as many as there may be. */
  add(watched: WatchedResource): Promise<boolean>;
  remove(uri: string): Promise<void>;
}

/** One connection or, in the newer era, one request: whose session it is, and how its calls go in turn. */
export interface Connection {
  /**
   * The session whose state the calls move: the protocol’s, or that of the state credential; null where there is
   * none.
   */
  readonly session: string | null;
  readonly inTurn: CallsInTurn;
  readonly callerOf: (context: ServerContext) => Caller;
  /** Whether an id of a message names a call for ever within the session, as the older era promises. */
  readonly hasUniqueIds: boolean;
  /** Whether the request was served before, by a connection that broke: it counts once. */
  readonly isResumed: boolean;
  /** The last progress of the request that its client has heard; 0 for none. */
  readonly heardProgress: number;
  /** From which level on the client wants log messages, as it said before this request; null: none. */
  readonly level: LoggingLevel | null;
  readonly keepLevel: (level: LoggingLevel) => Promise<void>;
  /**
   * Where subscriptions to resources are kept; `listen` where each belongs to a stream that its client opens for it,
   * as in the newest revision; null where there are none.
   */
  readonly subscriptions: SessionSubscriptions | 'listen' | null;
  /** How its client hears of its tasks; null in the newer era, whose clients ask. */
  readonly tasks: TaskNews | null;
}

interface TaskNews {
  readonly say: (task: ServedTask) => Promise<void>;
}

/** The notification that a task has another status. */
export function taskNotification(task: ServedTask) {
  return { method: 'notifications/tasks/status', params: { ...task } };
}

/** Of a connection that is no session’s that outlives it. */
export const noSession: Pick<Connection, 'isResumed' | 'heardProgress' | 'level' | 'keepLevel'> = {
  isResumed: false,
  heardProgress: 0,
  level: null,
  keepLevel: () => Promise.resolve(),
};
