import type { PastCaller, PastScope } from './types.js';

const idOf: Readonly<Record<PastScope, (caller: PastCaller) => string>> = {
  run: ({ requestId }) => requestId,
  session: ({ sessionId }) => sessionId,
  user: ({ userId }) => userId,
  tenant: () => '',
  agent: ({ agent }) => agent,
};

/** Whose calls are counted together, always of one tenant. No name can be written so that it meets another one’s. */
export function scopeOf(scope: PastScope, caller: PastCaller): string {
  return JSON.stringify([scope, caller.tenantId, idOf[scope](caller)]);
}

/** What is counted of a tool’s calls: the calls, or the numbers at a path of their arguments. */
export function itemOf(of: 'calls' | { readonly path: string }, toolId: string): string {
  return of === 'calls' ? `call/${toolId}` : JSON.stringify(['sum', of.path, toolId]);
}
