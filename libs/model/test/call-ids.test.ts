import { describe, expect, it } from '@jest/globals';
import { withUsableIds } from '../src/provider/call-ids.js';
import { stepOf } from './requests.js';

const call = (toolCallId: string) => ({ toolCallId, name: 'core__find', args: '{}' });
const idsOf = (ids: readonly string[], before: readonly string[] = []) =>
  withUsableIds(
    ids.map(call),
    before.map((toolCallId) => stepOf({ toolId: 'core__find', toolCallId })),
  ).map(({ toolCallId }) => toolCallId);

describe('the id of a model’s call (X-15)', () => {
  it.each(['', ' ', '\n\t', 'x'.repeat(129)])('is none where it is “%s”', (id) => {
    expect(idsOf([id, 'own'])).toEqual(['call-0-0', 'own']);
  });

  it('is one of 128 characters at most, whatever they are', () => {
    expect(idsOf(['x'.repeat(128), 'ä 1'])).toEqual(['x'.repeat(128), 'ä 1']);
  });

  it('is the only one of its run, one that was made for another call included', () => {
    expect(idsOf(['a', 'a', 'b'], ['b', 'call-2-1'])).toEqual(['a', 'call-2-1-2', 'call-2-2']);
  });
});
