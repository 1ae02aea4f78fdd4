import { expect, it } from '@jest/globals';
import { planRedrive } from '../../src/redrive/plan.js';

it.each([
  ['of a caller’s own run is not taken again', 'r', 'unexpected', 'refused'],
  [
    'of an agent’s run is taken again by the turn that waits for it',
    `agent-${'0'.repeat(32)}`,
    'unexpected',
    'attempt',
  ],
  ['of an agent’s run that was quarantined comes as if now', `agent-${'0'.repeat(32)}`, 'signature_invalid', 'resume'],
])('an end %s', (_, requestId, code, kind) => {
  const letter = {
    dead: { group: 'executor', code, key: 's', timestamp: 5, topic: 'agent.responses', partition: 0, offset: 1 },
    content: { topic: 'agent.responses', record: { requestId } },
  };
  const facts = { identity: false, isAskerKept: false, now: 10, before: null };
  expect(planRedrive(letter as unknown as Parameters<typeof planRedrive>[0], facts).kind).toBe(kind);
});
