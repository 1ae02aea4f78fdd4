import { describe, expect, it } from '@jest/globals';
import { CanonicalForm, make, recordContent } from '@sluice/contracts';

const whole = new CanonicalForm({ names: 'process', order: 'schema', saysNothing: () => false });
const given = new CanonicalForm({ names: 'wire', order: 'name', saysNothing: (value) => value === undefined });

describe('the canonical form', () => {
  it('is JSON’s text of the record, whatever its texts and numbers are', () => {
    for (const observation of ['', '"quoted" \\ back', 'line\nline\u2028', 'Größe 中 😀', '\u0000\u001f'])
      for (const iteration of [0, -0, 7, 2 ** 53, 1e21, NaN]) {
        const step = make.agentStep({ observation, iteration });
        expect(whole.text('AgentStep', step)).toBe(JSON.stringify(step));
      }
  });

  it('has half a surrogate pair as its replacement, and of two names that become one the later', () => {
    const letter = { reason: 'half \ud800', headers: { 'a\ud800': '1', 'a\ufffd': '2' } };
    const text = given.text('DeadLetter', letter);
    expect(JSON.parse(text)).toMatchObject({ reason: 'half \ufffd', headers: { 'a\ufffd': '2' } });
  });

  it('has names of a map in their order, but numbers first, and none is special', () => {
    const headers = JSON.parse('{"b": "1", "10": "2", "__proto__": "3", "9": "4", "A": "5"}') as Record<string, string>;
    const text = given.text('DeadLetter', { headers });
    expect(text).toContain('"headers":{"9":"4","10":"2","A":"5","__proto__":"3","b":"1"}');
  });

  it('leaves out what is at its default, and what is asked to be', () => {
    expect(recordContent('AgentStep', make.agentStep({ action: 'a' }))).toBe('{"action":"a"}');
    expect(recordContent('AgentStep', make.agentStep({ action: 'a', resultHash: 'h' }), ['resultHash'])).toBe(
      '{"action":"a"}',
    );
  });
});
