import { expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { notificationEvents } from '@sluice/core';
import type { JsonObject } from '@sluice/core';
import { make } from '@sluice/contracts';
import { webhookEvents } from '../src/event-schemas.js';
import {
  approvalCounts,
  approvalEnds,
  approvalEscalates,
  approvalWaits,
  budgetReached,
  configurationRefused,
  deadLetter,
  endOfRun,
  heldBack,
} from '../src/events.js';
import { mostTextCharacters, notificationOf } from '../src/wanted.js';
import { cloudEventOf } from '../src/webhook.js';

const ids = { requestId: 'r', sessionId: 's' };
const long = 'a'.repeat(mostTextCharacters + 1);
const end = make.agentResponse({ ...ids, kind: 'answer', endedAt: 5, answer: long, question: long });
const requested = make.approvalRequested({
  ...{ ...ids, approvalId: 'a', tool: 'core__t', argumentsHash: 'h', tenantId: 'acme' },
  ...{ topic: 'agent.tool-calls', partition: 0, offset: 0, expiresAt: 9, requestedAt: 3, arguments: '{}' },
});
const outcome = make.approvalOutcome({ ...ids, approvalId: 'a', decision: 'refuse', decidedBy: 'user:ann', at: 4 });
const letter = {
  ...{ topic: 'agent.requests', partition: 0, offset: 7, group: 'filter', key: '', value: Buffer.from('x') },
  ...{ headers: {}, timestamp: 1, code: 'undecodable', reason: '', attempts: 1, failedAt: 2, lastFault: null },
};
const run = make.agentResponse({
  ...{ ...ids, kind: 'error', endedAt: 5, error: { code: 'span_budget_exceeded', message: 'Full.' } },
  budgets: [{ per: 'user', withinMs: 1_000, unit: 'tokens', used: '7', adds: '2', opensAt: 6 }],
  run: make.run({
    ...{ iteration: 1, maxIterations: 9, startedAt: 1, deadline: 9, initialState: 'undefined', stateEnteredAt: 1 },
    requestedGroups: [],
    principal: { actorId: 'user:ann', tenantId: 'acme', subjectId: null, groups: [], connections: [] },
  }),
});

const all = [
  endOfRun(end),
  endOfRun(run),
  approvalWaits(requested),
  approvalCounts({ approvedBy: ['user:ann'], at: 4, stillNeeded: 1 }, requested),
  approvalEscalates({ ...ids, approvalId: 'a', tool: 'core__t', rule: 'two', to: ['user:bob'], at: 4 }, requested),
  approvalEnds(outcome, requested),
  deadLetter(letter, '0/3', null),
  deadLetter(letter, '0/3', { ...ids, tenantId: 'acme', agent: 'default' }),
  budgetReached(run, (id) => id)?.happened ?? null,
  configurationRefused('c', 'unsigned', 1),
  heldBack('crm', { name: 'delete', pin: 'p' } as Parameters<typeof heldBack>[1], 1),
].flatMap((happened) => happened ?? []);

it('every webhook is as schemas/asyncapi.json describes it, with no field beside', () => {
  expect(new Set(all.map(({ event }) => event))).toEqual(new Set(notificationEvents));
  const ajv = new Ajv({ strict: false, validateFormats: false });
  for (const { type, body } of webhookEvents()) {
    const { properties } = body as { readonly properties: { readonly data: JsonObject } };
    const data = { ...properties.data, additionalProperties: false };
    const closed = { ...body, properties: { ...properties, data }, additionalProperties: false };
    const validate = ajv.compile(closed);
    const sent = all.filter(({ event }) => `sluice.${event}` === type);
    for (const happened of sent)
      for (const baseUrl of [undefined, 'https://sluice.example.org']) {
        const settings = baseUrl === undefined ? {} : { baseUrl };
        const record = notificationOf(happened, { id: 'one', include: ['question', 'answer'] }, settings);
        validate(JSON.parse(cloudEventOf(record, baseUrl).body));
        expect([type, validate.errors]).toEqual([type, null]);
      }
    expect(validate({})).toBe(false);
  }
});
