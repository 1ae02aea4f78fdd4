import type { Clock } from '../ports/clock.js';
import type { McpServer } from '../settings/mcp-types.js';
import type { Ledger } from '../ports/ledger.js';
import type { RateLimiter } from '../ports/rate-limiter.js';
import type { ToolInvocation, Verdict } from './pipeline.js';
import type { BoundTool } from './types.js';

/** What a limit per minute works with. */
export interface RateCounting {
  readonly rates: RateLimiter;
  readonly ledger: Ledger;
  readonly clock: Clock;
  /** This attempt, and no other. */
  readonly owner: string;
}

const minuteMs = 60_000;

/**
 * Counts the call against the tool's limit per minute, of its tenant, over all instances. What is beyond it is
 * `unavailable`, with the time after which to try again, and claims nothing. A call that began before is not counted
 * and not refused: its outcome may be known already. One that was counted within the last minute is not counted again
 * (a repeated record). Throws what the limiter and the ledger throw: who cannot be counted does not pass.
 */
export async function withinRate(
  tool: Pick<BoundTool, 'id' | 'effect'>,
  invocation: Pick<ToolInvocation, 'callKey' | 'context'>,
  limit: number | null,
  { rates, ledger, clock, owner }: RateCounting,
): Promise<Verdict> {
  const what = { mark: 'counted', key: rateKey(invocation.context.tenantId, tool.id), said: `The tool ${tool.id}` };
  return within(what, tool, invocation, limit, { rates, ledger, clock, owner });
}

/** The same for all tools of one MCP server together. */
export async function withinServerRate(
  server: Pick<McpServer, 'id' | 'callsPerMinute'>,
  tool: Pick<BoundTool, 'id' | 'effect'>,
  invocation: Pick<ToolInvocation, 'callKey' | 'context'>,
  counting: RateCounting,
): Promise<Verdict> {
  const { tenantId } = invocation.context;
  const key = JSON.stringify([tenantId, 'mcp', server.id]);
  const what = { mark: 'counted-at-server', key, said: `The tools of the MCP server ${server.id} together` };
  return within(what, tool, invocation, server.callsPerMinute ?? null, counting);
}

async function within(
  what: { readonly mark: string; readonly key: string; readonly said: string },
  tool: Pick<BoundTool, 'effect'>,
  invocation: Pick<ToolInvocation, 'callKey' | 'context'>,
  limit: number | null,
  { rates, ledger, clock, owner }: RateCounting,
): Promise<Verdict> {
  if (limit === null) return { ok: true };
  const { callKey } = invocation;
  const mark = `${what.mark}/${callKey}`;
  const known = tool.effect === 'read_only' ? [mark] : [callKey, mark];
  const found = await Promise.all(known.map((key) => ledger.find(key)));
  if (found.some((claim) => claim !== undefined && claim.expiresAt > clock.now())) return { ok: true };

  const answer = await rates.take({ key: what.key, limit, windowMs: minuteMs });
  if (!answer.within) {
    const seconds = Math.max(1, Math.ceil(answer.retryAfterMs / 1_000));
    const message = `${what.said} may be called ${limit} times a minute, and ${what.mark === 'counted' ? 'has' : 'have'} been. Try again in ${seconds} s or use another tool.`;
    return { ok: false, code: 'unavailable', reason: 'rate_limited', message };
  }
  await ledger.claim({ key: mark, owner, now: clock.now(), ttlMs: minuteMs });
  return { ok: true };
}

/** No tenant can be written so that it meets another one's key. */
function rateKey(tenantId: string, toolId: string): string {
  return JSON.stringify([tenantId, toolId]);
}
