import { equalJson, wellFormed } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import type { AgentRequest, Run, OfferedList } from '@sluice/contracts';
import { digestOfRun } from './run-digest.js';

/** One turn, as a Toolset or a ToolCall describes it. */
export interface GrantedTurn {
  readonly requestId: string;
  readonly sessionId: string;
  readonly iteration: number;
  readonly request: AgentRequest;
  readonly run: Run;
  /** Groups and state decided on, after the default. */
  readonly groups: readonly string[];
  readonly state: string;
  /** Ids of the tools that were offered; of no account where there is a list. */
  readonly tools: readonly string[];
  /** The tools that were offered; null where an earlier version wrote the record. */
  readonly list: OfferedList | null;
  /** What the model may or must do with them, as the records have it (toolChoiceOf). */
  readonly toolChoice: string | null;
  readonly configVersion: string;
}

/**
 * How long a grant may be used, in milliseconds: longer than a model thinks and a queue waits, short against a right
 * that is taken away.
 */
export const grantLifeMs = 15 * 60_000;

/** What the filter signs for one turn. `exp` is in milliseconds since the epoch. */
export function grantClaims(turn: GrantedTurn, now: number): JsonObject {
  return { ...named(turn), exp: now + grantLifeMs };
}

type GrantVerdict =
  | { readonly kind: 'valid' }
  /** The filter’s own and for this turn, but its time is up. */
  | { readonly kind: 'expired' }
  /** A security event; `why` is for operators. */
  | { readonly kind: 'forged'; readonly why: string };

/** Whether the claims that the filter signed, null if it signed none, are for exactly this turn. */
export function judgeGrant(claims: JsonObject | null, turn: GrantedTurn, now: number): GrantVerdict {
  if (claims === null) return { kind: 'forged', why: 'The record carries no grant that the filter signed.' };
  if (turn.run.principal === null) return { kind: 'forged', why: 'The record does not say who asks.' };
  const differing = differences(claims, named(turn));
  if (differing.length > 0)
    return { kind: 'forged', why: `The record and its grant differ in ${differing.join(', ')}.` };
  const { exp } = claims;
  return typeof exp === 'number' && now < exp ? { kind: 'valid' } : { kind: 'expired' };
}

/**
 * Whether the filter granted this very turn, which comes back to be decided again: request, run and iteration must be
 * as it signed them; what was offered then, under which configuration and until when, is of no account any more.
 */
export function isReturned(
  claims: JsonObject | null,
  turn: Pick<GrantedTurn, 'requestId' | 'sessionId' | 'iteration' | 'request' | 'run'>,
): boolean {
  const { requestId: request, sessionId: session, iteration } = turn;
  const digest = digestOfRun(turn.request, turn.run);
  const isShort = claims !== null && 'list' in claims;
  const expected = claimsOf({ request, session, iteration, digest: isShort ? inBase64(digest) : digest });
  return claims !== null && Object.keys(expected).every((name) => isSame(name, claims, expected));
}

function named(turn: GrantedTurn): JsonObject {
  const digest = digestOfRun(turn.request, turn.run);
  return claimsOf({
    request: turn.requestId,
    session: turn.sessionId,
    iteration: turn.iteration,
    groups: turn.groups,
    state: turn.state,
    // A list stands for its tools: grants do not grow with them. Who asks, the digest covers with the run.
    ...(turn.list === null
      ? { ...asking(turn.run), tools: turn.tools, digest }
      : { list: inBase64(digestOfList(turn.list)), digest: inBase64(digest) }),
    choice: turn.toolChoice,
    config: turn.configVersion,
  });
}

/** A digest in two thirds of the text: it is written twice in each iteration. */
function inBase64(hexadecimal: string): string {
  return Buffer.from(hexadecimal, 'hex').toString('base64url');
}

/** As former versions sign it. */
function asking({ principal }: Run) {
  const { tenantId: tenant, actorId: actor, subjectId: subject, connections } = principal ?? {};
  return { tenant, actor, subject, connections };
}

/** Which tools, and what they take; where they are named is of no account. */
function digestOfList({ hash, indexes }: OfferedList): string {
  return sha256(JSON.stringify([hash.toWellFormed(), indexes]));
}

/** Claims as they are signed and read back: texts are well-formed, and what is absent is not named. */
export function claimsOf(claims: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const present = Object.entries(claims).filter(([, claim]) => claim !== null && claim !== undefined);
  return wellFormed(Object.fromEntries(present)) as JsonObject;
}

/** Names of the claims that are not equal, absent ones included; the time of expiry is not compared. */
export function differences(found: JsonObject, expected: JsonObject): readonly string[] {
  const more = Object.keys(found).filter((name) => !Object.hasOwn(expected, name) && name !== 'exp');
  return [...Object.keys(expected), ...more].filter((name) => !isSame(name, found, expected)).sort();
}

function isSame(name: string, found: JsonObject, expected: JsonObject): boolean {
  return equalJson(found[name] ?? null, expected[name] ?? null);
}
