import { describe, expect, it } from '@jest/globals';
import { madeOfPart, madeOfRecord, shareRecord } from '@sluice/contracts';

const record = () => ({ configVersion: 'v', run: { requestedGroups: ['a'], redrive: 0 }, tools: [{ id: 't' }] });

describe('a shared record', () => {
  it('is frozen with all that is in it', () => {
    const shared = shareRecord(record());
    expect(() => shared.run.requestedGroups.push('b')).toThrow(TypeError);
    expect(() => Object.assign(shared.tools[0] as object, { id: 'another' })).toThrow(TypeError);
  });

  it('has what was made of the one that it was written from, and so have its run and its request', () => {
    const written = shareRecord(record());
    madeOfRecord(written)?.set('digest', 1);
    madeOfPart(written.run)?.set('text', 2);
    const read = shareRecord(record(), written);
    expect(madeOfRecord(read)?.get('digest')).toBe(1);
    expect(madeOfPart(read.run)?.get('text')).toBe(2);
  });

  it('leaves nothing with a copy, which may say something else', () => {
    const shared = shareRecord(record());
    expect(madeOfRecord({ ...shared })).toBeUndefined();
    expect(madeOfPart({ ...shared.run })).toBeUndefined();
    expect(madeOfRecord(shared.run)).toBeUndefined();
  });

  it('is not read from what another one was written from', () => {
    const [one, another] = [shareRecord(record()), shareRecord(record())];
    madeOfRecord(one)?.set('digest', 1);
    expect(madeOfRecord(another)?.get('digest')).toBeUndefined();
  });
});
