import { recordSchema } from '@sluice/contracts';
import { givenFields, revokedFields } from '../../../standing/standing-body.js';
import { at } from '../../example.js';
import type { JsonSchema } from '../../json-schema.js';
import type { Operation } from '../../operation.js';
import { propertiesOf, ref } from '../../record-schemas.js';
import { list, object, text, textOrNull, time, timeOrNull, whole } from '../../schema-parts.js';

const listed = {
  standing_id: 's-1',
  tool: 'core__send-money',
  bounds: { amount: { maximum: 100 } },
  session_id: '',
  user: 'user:ann',
  until: at + 3_600_000,
  calls: 20,
  used: 3,
  given_by: 'user:bob',
  given_for: null,
  reason: 'Invoices of this week.',
  given_at: at,
  revoked_by: null,
  revoked_at: null,
  revoked_because: null,
  tool_key: 'send-money',
};

const { standing_id, user, until, calls, reason } = listed;
const given = { tool: 'send-money', bounds: listed.bounds, user, until, calls, reason };

const written = (taken: string, published: string): Pick<Operation, 'answers' | 'headers'> => ({
  headers: { prefer: '`wait=<seconds>`: waits so long for an executor, 55 at most; 5 unless it is written.' },
  answers: {
    200: { meaning: taken, json: 'PublishedStanding' },
    202: { meaning: published, json: 'PublishedStanding' },
  },
});
const answers = { 200: { standing_id, status: 'taken' }, 202: { standing_id, status: 'published' } };

/** Approvals of calls to come. */
export const standingOperations: readonly Operation[] = [
  {
    ...{ id: 'listStandingApprovals', client: 'approvals.standing', who: 'caller', tag: 'Approvals' },
    ...{ method: 'get', path: '/v1/approvals/standing' },
    summary: 'List standing approvals',
    description:
      'Approvals of calls to come, of the caller’s tenant: those in force and those that ended within a day, in the order in which they were given; none for a caller that is neither an approver nor an operator.',
    answers: { 200: { meaning: 'The standing approvals.', json: 'StandingApprovalList' } },
    example: { answers: { 200: { standing_approvals: [listed] } } },
    refusals: [401, 403, 500, 503],
  },
  {
    ...{ id: 'giveStandingApproval', client: 'approvals.giveStanding', who: 'caller', tag: 'Approvals' },
    ...{ method: 'post', path: '/v1/approvals/standing' },
    summary: 'Approve calls to come',
    description:
      'Calls of the tool by this user, or in this session, run unasked within the bounds until then. What cannot count is refused, with the reason as `not_taken`.',
    body: 'GivenStanding',
    ...written('It holds.', 'It is on the log, and no executor has taken it yet.'),
    example: { body: given, answers },
    refusals: [400, 401, 403, 409, 413, 415, 500, 503],
  },
  {
    ...{ id: 'revokeStandingApproval', client: 'approvals.revokeStanding', who: 'caller', tag: 'Approvals' },
    ...{ method: 'post', path: '/v1/approvals/standing/{standing_id}/revoke' },
    // One that was revoked stays so.
    isRepeatable: true,
    summary: 'Revoke a standing approval',
    description: 'No further call runs by it. An approver may revoke any of its tenant.',
    places: { standing_id: 'Names the standing approval.' },
    body: 'RevokedStanding',
    isBodyOptional: true,
    ...written('It holds no longer.', 'That is on the log, and no executor has taken it yet.'),
    example: { places: { standing_id }, body: { reason: 'Enough.' }, answers },
    refusals: [400, 401, 403, 404, 413, 415, 500, 503],
  },
];

export function standingSchemas(): Readonly<Record<string, JsonSchema>> {
  return {
    StandingApprovalList: object('The standing approvals of a tenant.', {
      standing_approvals: list(ref('ListedStanding'), 'In the order in which they were given.'),
    }),
    ListedStanding: object('An approval of calls to come.', {
      standing_id: text('Names it.'),
      tool: text('The tool’s id.'),
      tool_key: text('The tool’s key; its id where no configuration has it any more.'),
      bounds: {
        type: ['object', 'null'],
        description:
          'What the arguments may be, in the form of a rule’s `arguments`; null for whatever the tool takes.',
      },
      session_id: text('The session whose calls it is for; empty for all of the user’s.'),
      user: text('Who the calls are made by or for; empty where it is a session’s.'),
      until: time('Until when it holds.'),
      calls: whole('How many calls it lets through.'),
      used: whole('How many it let through.'),
      given_by: text('The approver.'),
      given_for: textOrNull('The person for whom it was given, as the approver’s credential says; null for none.'),
      reason: text('Why it was given.'),
      given_at: time('When.'),
      revoked_by: textOrNull('Who revoked it; null while it was not.'),
      revoked_at: timeOrNull('When it was revoked.'),
      revoked_because: textOrNull('Why it was revoked.'),
    }),
    PublishedStanding: object('What was said of a standing approval is on the log.', {
      standing_id: text('Names the standing approval.'),
      status: { enum: ['published', 'taken'], description: '`taken`: it counts.' },
    }),
  };
}

/** The bodies that give and revoke one. */
export function standingBodies(): Readonly<Record<string, JsonSchema>> {
  const properties = (names: readonly string[]) =>
    propertiesOf(
      recordSchema('StandingApproval').fields.filter(({ name }) => names.includes(name)),
      'body',
      'StandingApproval',
    );
  return {
    GivenStanding: {
      type: 'object',
      description: 'An approval of calls to come.',
      properties: {
        ...properties(givenFields),
        bounds: {
          description:
            'What the arguments may be, in the form of `arguments` of a rule: an object, or its JSON as text. Left out for whatever the tool takes.',
        },
      },
      required: ['tool', 'until'],
      additionalProperties: false,
    },
    RevokedStanding: {
      type: 'object',
      description: 'Why a standing approval is revoked.',
      properties: properties(revokedFields),
      additionalProperties: false,
    },
  };
}
