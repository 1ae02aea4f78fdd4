import neo4j from 'neo4j-driver';
import { describe, expect, it } from '@jest/globals';
import { received, sent } from '../../src/graph/neo4j-values.js';

describe('values of Neo4j as JSON', () => {
  it.each<[unknown, string]>([
    [9007199254740993n, '9007199254740993'],
    [-9223372036854775808n, '-9223372036854775808'],
    [7n, '7'],
    [0.5, '0.5'],
    [Number.POSITIVE_INFINITY, '"Infinity"'],
    [[1n, { n: 9007199254740993n }], '[1,{"n":9007199254740993}]'],
    [new neo4j.types.Node(1n, ['A'], { big: 9007199254740993n }, 'x'), '{"labels":["A"],"big":9007199254740993}'],
    [new neo4j.types.Duration(0n, 1n, 0n, 0n), '"P1D"'],
    [new neo4j.types.Duration(14n, 0n, 3_600n, 0n), '"P1Y2MT1H"'],
    [new neo4j.types.Duration(0n, 0n, 0n, 0n), '"PT0S"'],
    [new neo4j.types.Date(2026n, 11n, 27n), '"2026-11-27"'],
  ])('%p', (value, json) => expect(JSON.stringify(received(value, neo4j))).toBe(json));

  it('are sent with the integers that they had', () => {
    const big = JSON.rawJSON('9007199254740993') as never;
    expect(String(sent(big, neo4j))).toBe('9007199254740993');
  });
});
