import type { JsonSchema } from '../../json-schema.js';
import type { Operation } from '../../operation.js';
import { object, text } from '../../schema-parts.js';

const request_id = 'hook-issues-1f2e3d4c5b6a79880796a5b4c3d2e1f0';

/** Webhooks of other systems. */
export const hookOperations: readonly Operation[] = [
  {
    ...{ id: 'receiveHook', client: null, who: 'anyone', tag: 'Runs', method: 'post', path: '/v1/hooks/{name}' },
    summary: 'Start a run by a webhook',
    description:
      'Takes a delivery that is signed as GitHub, Stripe or Standard Webhooks do, as the hook’s entry of the configuration says (docs/hooks.md). A delivery that is sent again is the same run.',
    places: { name: 'Names the hook.' },
    body: 'HookDelivery',
    answers: { 202: { meaning: 'Its request is on the log.', json: 'AcceptedDelivery' } },
    example: {
      places: { name: 'issues' },
      body: { action: 'opened', issue: { title: 'It does not start' } },
      answers: { 202: { request_id, session_id: request_id, status: 'accepted' } },
    },
    refusals: [400, 401, 403, 404, 413, 415, 429, 500, 503],
  },
];

export function hookSchemas(): Readonly<Record<string, JsonSchema>> {
  return {
    AcceptedDelivery: object('The run that a delivery starts.', {
      request_id: text('The run; it follows from the delivery’s id.'),
      session_id: text('Its session.'),
      status: { enum: ['accepted', 'accepted_before'], description: '`accepted_before`: the delivery came again.' },
    }),
  };
}

export const hookBodies: Readonly<Record<string, JsonSchema>> = {
  HookDelivery: { type: 'object', description: 'What the other system sends.', additionalProperties: true },
};
