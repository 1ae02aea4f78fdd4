import { describe, expect, it } from '@jest/globals';
import { diffLines } from '../src/ui/line-diff.js';

const shown = (before: string, after: string): readonly string[] =>
  diffLines(before, after).map((line) =>
    line.kind === 'skipped'
      ? `… ${line.count}`
      : `${{ same: ' ', removed: '-', added: '+' }[line.kind]}${line.line} ${line.text}`,
  );

describe('What differs between two texts', () => {
  it('is said line by line, with three lines around it', () => {
    const before = 'a\nb\nc\nd\ne\nf\ng\nh\ni';
    expect(shown(before, before.replace('e', 'E\nE2'))).toEqual([
      ...['… 1', ' 2 b', ' 3 c', ' 4 d', '-5 e', '+5 E', '+6 E2', ' 7 f', ' 8 g', ' 9 h', '… 1'],
    ]);
    expect(shown('same', 'same')).toEqual(['… 1']);
    expect(shown('', 'a')).toEqual(['+1 a']);
  });

  it('keeps lines that both have between changes', () => {
    expect(shown('a\nx\nb', 'c\nx\nd')).toEqual(['-1 a', '+1 c', ' 2 x', '-3 b', '+3 d']);
  });

  it('takes texts that are too long to compare as different wholes', () => {
    const text = (name: string): string => Array.from({ length: 2_500 }, (_, n) => `${name}${n}`).join('\n');
    expect(diffLines(text('a'), text('b')).length).toBe(5_000);
  });
});
