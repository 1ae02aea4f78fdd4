import { describe, expect, it } from '@jest/globals';
import { createCodec, make, recordContent, topics } from '@sluice/contracts';
import type { AgentRequest, AgentStep, Codec } from '@sluice/contracts';

const codec: Codec = await createCodec({
  register: (() => {
    let id = 0;
    return () => Promise.resolve(++id);
  })(),
  find: () => Promise.resolve(undefined),
});

const step = (n: number, observation = `result ${n}`): AgentStep =>
  make.agentStep({ iteration: n, action: 'core__now', observation, thought: 'Größe 中' });
const requestWith = (history: readonly AgentStep[]): AgentRequest =>
  make.agentRequest({ question: 'Who?', requestId: 'r', sessionId: 's', history });
const read = (payload: Uint8Array): AgentRequest => codec.decode(topics.requests, payload) as AgentRequest;

describe('a step that was read before', () => {
  it('is the same object in the next record, and frozen', () => {
    const first = read(codec.encode(topics.requests, requestWith([step(1), step(2)])));
    const next = read(codec.encode(topics.requests, requestWith([...first.history, step(3)])));
    expect(next.history).toEqual([step(1), step(2), step(3)]);
    expect(next.history[0]).toBe(first.history[0]);
    expect(next.history[1]).toBe(first.history[1]);
    expect(() => ((next.history[0] as { action: string }).action = 'another')).toThrow(TypeError);
  });

  it('is written with the bytes, and has the text, of one that was made', () => {
    const made = requestWith([step(1), step(2, 'x'.repeat(20_000)), step(3)]);
    const payload = codec.encode(topics.requests, made);
    for (let time = 0; time < 3; time++) {
      const again = read(payload);
      expect(codec.encode(topics.requests, again).equals(payload)).toBe(true);
      expect(recordContent('AgentRequest', again)).toBe(recordContent('AgentRequest', made));
    }
  });

  it('is not taken for another: one that differs in a letter is its own', () => {
    const [one] = read(codec.encode(topics.requests, requestWith([step(1, 'yes')]))).history;
    const [other] = read(codec.encode(topics.requests, requestWith([step(1, 'yet')]))).history;
    expect([one?.observation, other?.observation]).toEqual(['yes', 'yet']);
  });

  it('is forgotten in the end, and made again', () => {
    const payload = codec.encode(topics.requests, requestWith([step(1, 'early')]));
    const early = read(payload);
    for (let n = 0; n < 400; n++) read(codec.encode(topics.requests, requestWith([step(n, `${n} `.repeat(2_000))])));
    expect(read(payload)).toEqual(early);
    expect(read(payload).history[0]).not.toBe(early.history[0]);
  });
});

describe('a history that is cut short', () => {
  it('is refused at every byte, also where it says that there are billions of steps', () => {
    const payload = codec.encode(topics.requests, requestWith([step(1), step(2)]));
    for (let bytes = 5; bytes < payload.length; bytes++)
      expect(() => read(payload.subarray(0, bytes))).toThrow(expect.objectContaining({ code: 'undecodable' }));
  });
});
