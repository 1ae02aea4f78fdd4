import type { Request } from 'express';
import { isJsonObject } from '@sluice/core';
import type { JsonValue } from '@sluice/core';
import { longestId } from '@sluice/contracts';
import type { StandingApproval } from '@sluice/contracts';
import { standingLimits } from '@sluice/configuration';
import { Refusal } from '../refusal.js';
import { recordOf } from '../requests.js';
import { strictBody } from '../strict-body.js';

/** What of a StandingApproval may stand in a body; the rest is the gateway’s or an executor’s. */
export const givenFields = [
  ...['standing_id', 'tool', 'bounds', 'session_id', 'user', 'until', 'calls', 'decided_by', 'reason'],
] as const;
export const revokedFields = ['decided_by', 'reason'] as const;

/** What the gateway adds to a body. */
interface Added {
  readonly action: 'give' | 'revoke';
  readonly standing_id: string;
  readonly decided_at: number;
}

/** The record of a body that gives one; `added` has the id of one that names none. Throws Refusal(400). */
export function givenIn(http: Request, added: Added): StandingApproval {
  const body = objectIn(http, givenFields);
  const { bounds = null } = body;
  const text = isJsonObject(bounds) ? { bounds: JSON.stringify(bounds) } : {};
  const record = recordOf<StandingApproval>('StandingApproval', { ...added, ...body, ...text });
  if (record.tool.trim() === '') throw invalid('Name the tool, by its key or id.');
  if (record.until === 0) throw invalid('Say until when it holds as until, in milliseconds since the epoch.');
  const { standingId: id } = record;
  // It stands in the path of what revokes it.
  if (id === '' || id.length > longestId || !id.isWellFormed() || /^\.\.?$/.test(id))
    throw invalid(`standing_id must have 1 to ${longestId} characters, be well-formed Unicode, and not be . or ..`);
  return named(record);
}

/** The record of a body that revokes one; it may be left out. Throws Refusal(400). */
export function revokedIn(http: Request, added: Added): StandingApproval {
  const isEmpty = http.get('transfer-encoding') === undefined && Number(http.get('content-length') ?? 0) === 0;
  const body = isEmpty ? {} : objectIn(http, revokedFields);
  return named(recordOf<StandingApproval>('StandingApproval', { ...added, ...body }));
}

function objectIn(http: Request, fields: readonly string[]): Readonly<Record<string, JsonValue>> {
  const body = strictBody(http, ['StandingApproval'], fields) as JsonValue;
  if (!isJsonObject(body)) throw invalid(`The body must be an object with ${fields.join(', ')}.`);
  return body;
}

function named(record: StandingApproval): StandingApproval {
  const { reason: longest } = standingLimits;
  if (record.reason.length > longest) throw invalid(`reason must be text of at most ${longest} characters.`);
  return record;
}

function invalid(message: string): Refusal {
  return new Refusal(400, 'invalid_request', message);
}
