import { describe, expect, it } from '@jest/globals';
import { createCodec, make, recordToJson, sha256, topics } from '@sluice/contracts';
import type { AgentStep } from '@sluice/contracts';
import { contentHash, decodeHead, encodeHead, hashOf, noHead, seal } from '@sluice/audit';
import type { Source } from '@sluice/audit';
import { response } from './recorded.js';

const step: AgentStep = make.agentStep({
  action: 'a',
  arguments: '{}',
  observation: 'é',
  state: 'b',
  toolCallId: 'c',
  iteration: 1,
  startedAt: 1,
  endedAt: 2,
});
const whole = ((): Source => {
  const message = response(3, 'yes') as Extract<Source, { topic: 'agent.responses' }>;
  return { ...message, record: { ...message.record, history: [step] } };
})();

describe('the hash over what a record says', () => {
  it('is over its key, its time and its JSON in alphabetical order without defaults, for ever', () => {
    const json =
      '{"answer":"yes","config_version":"c-1","ended_at":1003,"history":[{"action":"a","arguments":"{}","ended_at":2,"iteration":1,' +
      '"observation":"é","started_at":1,"state":"b","tool_call_id":"c"}],"iterations":1,"kind":"answer","question":"Go",' +
      '"request_id":"request-3","session_id":"session-3"}';
    expect(contentHash(whole)).toBe(sha256(`["session-3",1003]\n${json}`));
    expect(contentHash(whole)).toBe('d3bfe455ffbd03ce0e7dee8d4c84c5fdf404a1039aa3eee188b6f077f9f51252');
  });

  it('is the same for Avro and for JSON', async () => {
    const codec = await createCodec({ register: async () => 1, find: async () => undefined });
    const json = Buffer.from(JSON.stringify(recordToJson('AgentResponse', whole.record)));
    const sparse = Buffer.from(JSON.stringify({ ...JSON.parse(json.toString()), state: undefined, error: undefined }));
    const avro = codec.encode(topics.responses, whole.record as never);
    for (const payload of [avro, json, sparse]) {
      const record = await codec.decode(topics.responses, payload);
      expect(contentHash({ ...whole, record } as Source)).toBe(contentHash(whole));
    }
  });

  it.each<[string, (message: Source) => Source]>([
    ['its key', (message) => ({ ...message, key: 'x' })],
    ['its time', (message) => ({ ...message, timestamp: 0 })],
    ['a text', (message) => ({ ...message, record: { ...message.record, answer: 'no' } }) as Source],
    ['a list', (message) => ({ ...message, record: { ...message.record, history: [step, step] } }) as Source],
    [
      'a member inside',
      (message) => ({ ...message, record: { ...message.record, history: [{ ...step, index: 1 }] } }) as Source,
    ],
  ])('is another one with another %s', (_, change) => {
    expect(contentHash(change(whole))).not.toBe(contentHash(whole));
  });
});

describe('an entry', () => {
  const told = { kind: 'run_ended', requestId: 'r', sessionId: 's', configVersion: 'c', details: '{"a":1}' };
  const entry = seal(told, { ...whole, hash: contentHash(whole) }, noHead);

  it('has the hash that the documentation says, for ever', () => {
    const list = ['', 1, 'run_ended', 'r', 's', 'agent.responses', 0, 3, entry.sourceHash, '{"a":1}', 'c', 1003];
    expect(entry.hash).toBe(sha256(JSON.stringify(list)));
    expect(entry.hash).toBe('b70a961fa3d898c1027f2cc105356033a1cfc7642a72cca4fdb4debd4f273f20');
  });

  it('keeps its hash over the wire, whatever its texts are', async () => {
    const codec = await createCodec({ register: async () => 1, find: async () => undefined });
    const odd = seal({ ...told, sessionId: '\ud83d', requestId: 'é\n"' }, { ...whole, hash: '' }, noHead);
    const decoded = await codec.decode(topics.audit, codec.encode(topics.audit, odd));
    expect(hashOf(decoded)).toBe(odd.hash);
  });
});

describe('the head that a partition carries', () => {
  const head = { sequence: 7, hash: 'f'.repeat(64), offset: 3, checkpoint: 2, checkpointAt: 1_795_000_000_000 };

  it('is read as it was written, in far less than a partition can carry', () => {
    expect(decodeHead(encodeHead(head))).toEqual(head);
    expect(encodeHead(head).length).toBeLessThan(200);
  });

  it.each(['', '{}', '[2,1,"",0,0,0]', '[1,"7","",0,0,0]', '[1,7,8,0,0,0]', '[1,7,"f",0,0]'])(
    'is none in %j',
    (text) => {
      expect(decodeHead(text)).toBeNull();
    },
  );
});
