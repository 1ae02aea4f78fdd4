import { describe, expect, it } from '@jest/globals';
import { audit } from './audit.ts';

const place = { topic: 'agent.toolsets', partition: 0, offset: 0 };
const spoiled = { ...place, offset: 1 };
const found = [{ ...place, key: 's-1', record: {} }];
const verified = {
  found: 0,
  findings: [] as object[],
  sources: { compared: 1, waiting: 0, not_compared: null as string | null },
};
const counts = { replayed: 1, different: 0, not_replayable: 0, signatures_verified: true };
const judged = (report: object, lines: readonly object[]): string =>
  audit({
    found,
    spoiled: [{ ...spoiled, group: 'agent', code: 'undecodable', runId: null }],
    verified: `${JSON.stringify({ ...verified, ...report })}\n`,
    replayed: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
  }).join('\n');

describe('the judge of the fault suite, of audit and replay', () => {
  it('takes both as they should be, and what was put there to be refused beside them', () =>
    expect(judged({}, [{ ...spoiled, outcome: 'undecodable' }, counts])).toBe(''));

  it.each<[string, object, readonly object[], RegExp]>([
    ['a finding', { found: 1, findings: [{ kind: 'changed' }] }, [counts], /a finding: .*changed/],
    ['findings that are not shown', { found: 2, findings: [{ kind: 'changed' }] }, [counts], /has 2 findings/],
    ['what has no entry', { sources: { ...verified.sources, compared: 0, waiting: 1 } }, [counts], /1 records have no entry yet/],
    ['a log that was not compared', { sources: { ...verified.sources, not_compared: 'No.' } }, [counts], /not compared: No\./],
    ['records that were not compared', { sources: { ...verified.sources, compared: 0 } }, [counts], /compared with 0 records; there are 1/],
    ['a decision that is different', {}, [{ ...place, outcome: 'different' }, { ...counts, different: 1 }], /not come out as it was recorded: .*different/],
    ['one that nobody can read and that was not put there so', {}, [{ ...place, outcome: 'undecodable' }, counts], /not come out as it was recorded: .*undecodable/],
    ['one that is only counted', {}, [{ ...counts, not_replayable: 1 }], /0 decisions are different, 1 could not/],
    ['signatures that were not verified', {}, [{ ...counts, signatures_verified: false }], /did not verify/],
    ['decisions that were not replayed', {}, [{ ...counts, replayed: 0 }], /Of 1 decisions on the log 0 were replayed/],
  ])('finds %s', (_, report, lines, sentence) => expect(judged(report, lines)).toMatch(sentence)); // prettier-ignore
});
