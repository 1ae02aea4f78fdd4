import type { ServerResponse } from 'node:http';

/** Calls when its reader goes away or has it all; at once if that was before anybody could listen. */
export function whenGone(response: Pick<ServerResponse, 'closed' | 'once'>, act: () => void): void {
  if (response.closed) act();
  else response.once('close', act);
}

/** So long a connection may take nothing of what waits for it, in milliseconds. */
const stuckMs = 120_000;

/**
 * A reader that takes nothing any more, and does not go away either, would be followed for ever: its connection is
 * closed.
 */
export function leaveStuck(response: ServerResponse, ms: number = stuckMs): void {
  response.setTimeout(ms, () => {
    if (response.writableLength > 0) response.destroy();
  });
}
