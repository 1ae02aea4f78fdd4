import { channels, includedTexts, loadMeasures, notificationEvents } from '@sluice/core';
import { longestId } from '@sluice/contracts';
import { longestCancelReason } from '@sluice/run';
import { timeForm, timeForms } from '../times.js';
import type { JsonSchema } from './json-schema.js';

/** Characters of a candidate’s text. */
const longestCandidate = 512 * 1_024;
/** Names of a list, and members of a map. */
const mostNames = 1_000;
/** The end of the year 9999, milliseconds since the epoch. */
const latest = 253_402_300_799_999;

const name: JsonSchema = { type: 'string', minLength: 1, maxLength: longestId };
const names = (description: string): JsonSchema => ({
  ...{ type: ['array', 'null'], items: name, maxItems: mostNames, default: null, description },
});
const textOrNull = (description: string): JsonSchema => ({
  ...{ type: ['string', 'null'], minLength: 1, maxLength: longestId, default: null, description },
});
const flag = (description: string): JsonSchema => ({ type: 'boolean', default: false, description });

const text: JsonSchema = {
  type: 'string',
  minLength: 1,
  maxLength: longestCandidate,
  description: 'The text of a configuration file, as YAML or JSON (docs/configuration.md).',
};
const candidate: JsonSchema = {
  ...{ ...text, type: ['string', 'null'], default: null },
  description: 'The text of a candidate, as YAML or JSON; without it the configuration in force decides.',
};

function body(description: string, properties: Readonly<Record<string, JsonSchema>>, required: readonly string[] = []) {
  return {
    ...{ type: 'object', description, properties, additionalProperties: false },
    ...(required.length === 0 ? {} : { required }),
  } satisfies JsonSchema;
}

const subscription: Readonly<Record<string, JsonSchema>> = {
  url: {
    type: 'string',
    minLength: 1,
    maxLength: 2_000,
    description: 'Where webhooks go: `https`, or a host of notify.private_hosts.',
  },
  events: {
    ...{ type: 'array', items: { type: 'string', enum: [...notificationEvents] }, minItems: 1, maxItems: 50 },
    description: 'The events that it is sent.',
  },
  tenants: names('Whose events it is sent; null for all, those of no tenant too.'),
  agents: names('Of which agents’ runs: names of agents, or keys of tools that are agents; null for all.'),
  outcomes: names('The outcomes that it is sent; null for all.'),
  include: {
    ...{ type: ['array', 'null'], items: { type: 'string', enum: [...includedTexts] }, maxItems: 10, default: null },
    description: 'What is left out otherwise.',
  },
  retry_seconds: {
    ...{ type: 'integer', minimum: 1, maximum: 604_800, default: 86_400 },
    description: 'How long a delivery is tried again.',
  },
};

/** Bodies that become no record; handlers hold them to these schemas. */
export const ownBodies = {
  Candidate: body('A candidate for a configuration.', { text }, ['text']),
  AcceptRequest: body(
    'Tools of a server that are to be allowed as they are now.',
    {
      tools: {
        ...{
          type: 'array',
          minItems: 1,
          maxItems: 1_000,
          description: 'The tools, as a report of the server had them.',
        },
        items: {
          ...{ type: 'object', additionalProperties: false, required: ['tool', 'pin'] },
          properties: {
            tool: { type: 'string', minLength: 1, maxLength: 1_000, description: 'As its server names it.' },
            pin: { type: 'string', minLength: 1, maxLength: 200, description: 'Its `pin` of `held_back`.' },
          },
        },
      },
    },
    ['tools'],
  ),
  ApplyRequest: body(
    'A candidate that is to be in force.',
    { text, replaces: textOrNull('The version that must be in force now; null for any.') },
    ['text'],
  ),
  CancellationRequest: body(
    'A run that is to end.',
    {
      request_id: { ...name, description: 'Names the run.' },
      reason: { type: 'string', maxLength: longestCancelReason, default: '', description: 'Why.' },
    },
    ['request_id'],
  ),
  DecisionById: body(
    'A decision on a call, bound to its arguments.',
    {
      decision: { type: 'string', enum: ['approve', 'refuse'], description: 'Whether the call may be made.' },
      arguments_hash: {
        ...name,
        description: 'As `approval.waiting` and GET /v1/approvals have it: what is decided on.',
      },
      reason: { type: 'string', maxLength: 100_000, default: '', description: 'Why.' },
      decided_for: textOrNull(
        'The person, as `user:ann`, for whom a service decides; null: the caller itself decides.',
      ),
      arguments: {
        ...{ type: ['string', 'null'], maxLength: 200_000, default: null },
        description: 'The arguments to make the call with, as the JSON of an object; null: its own.',
      },
    },
    ['decision', 'arguments_hash'],
  ),
  NewSubscription: body(
    'A receiver of webhooks (docs/notifications.md).',
    { name: { ...name, description: 'Names it: 1 to 64 letters, digits, `_` and `-`.' }, ...subscription },
    ['name', 'url', 'events'],
  ),
  SubscriptionChange: body('What is to be different of a subscription; null or left out: as it is.', {
    url: textOrNull('Where webhooks go.'),
    events: { ...names('The events that it is sent.'), minItems: 1 },
    tenants: names('Whose events it is sent; `*` alone for all.'),
    agents: names('Of which agents’ runs; `*` alone for all.'),
    outcomes: names('The outcomes that it is sent; `*` alone for all.'),
    include: {
      ...{ type: ['array', 'null'], items: { type: 'string', enum: [...includedTexts] }, maxItems: 10, default: null },
      description: 'What is left out otherwise; an empty list for neither.',
    },
    retry_seconds: {
      ...{ type: ['integer', 'null'], minimum: 1, maximum: 604_800, default: null },
      description: 'How long a delivery is tried again.',
    },
  }),
  ExplainRequest: body('A caller and its request, as far as they are known. What is left out is unknown, or none.', {
    text: candidate,
    group: names('The groups that are asked for; null for the default.'),
    state: textOrNull('The state; null for `undefined`.'),
    tool_ids: names('The tools that the request leaves to the run, by id or key; null for all.'),
    tool_choice: textOrNull('As in a request.'),
    connections: names('Connections that the request names; `*` for all.'),
    question: {
      ...{ type: ['string', 'null'], maxLength: 100_000, default: null },
      description: 'What is asked; null where that is not known.',
    },
    agent: textOrNull('The agent that the request asks; null for `default`.'),
    tenant: textOrNull('The tenant; null where it is not known.'),
    user: textOrNull('The actor, as `user:ann`; null where it is not known.'),
    on_behalf_of: textOrNull('The subject that the actor asks for.'),
    channel: {
      ...{ type: ['string', 'null'], enum: [...channels, null], default: null },
      description: 'How the request came; null where that is not known.',
    },
    claims: {
      ...{ type: ['object', 'null'], maxProperties: mostNames, default: null },
      additionalProperties: { type: 'array', items: name, maxItems: mostNames },
      description: 'The claims of the credential, each as a list of values; null where they are not known.',
    },
    roles: names('Roles that `identity.permissions.roles` maps to the groups that the caller may ask for.'),
    permitted_groups: names('The groups that the caller may ask for, in place of its roles; null for all.'),
    at: {
      ...{ type: ['integer', 'null'], minimum: 0, maximum: latest, default: null },
      description: 'When, milliseconds since the epoch; null for now.',
    },
    calls: {
      ...{ type: 'object', maxProperties: mostNames, default: {} },
      additionalProperties: { type: 'integer', minimum: 0, maximum: 1_000_000 },
      description: 'How often the run called a tool so far, by its id or key.',
    },
    succeeded: { ...names('Tools whose calls succeeded in the run, by id or key.') },
    approved: { ...names('Tools of which an approved call ended just now, by id or key.') },
    nested: flag('Whether the run answers the call of an agent; the same as `depth: 1`.'),
    depth: {
      ...{ type: ['integer', 'null'], minimum: 0, maximum: 9, default: null },
      description: 'How many calls of agents the run is within; null as `nested` says.',
    },
    planned: flag('Whether the run works by a plan.'),
    loads: {
      ...{ type: 'object', maxProperties: mostNames, default: {} },
      additionalProperties: { type: 'number' },
      description: `Measured values by their name: ${loadMeasures.join(', ')}, or \`prometheus: <query>\`.`,
    },
  }),
  WhatIfRequest: body(
    'Which recorded decisions are made again under a candidate.',
    {
      text,
      since: {
        ...{ type: ['string', 'null'], pattern: timeForm.source, default: null },
        description: `Decided at or after this time: ${timeForms}; null for a day ago.`,
      },
      until: {
        ...{ type: ['string', 'null'], pattern: timeForm.source, default: null },
        description: 'Decided before this time; null for now.',
      },
      tenant: textOrNull('Of this tenant alone.'),
      session_id: textOrNull('Of this session alone.'),
      tool: textOrNull('About this tool alone, by its id or key.'),
      limit: {
        ...{ type: 'integer', minimum: 1, maximum: 1_000, default: 200 },
        description: 'Differing decisions that are listed, at most. All are counted.',
      },
    },
    ['text'],
  ),
};
