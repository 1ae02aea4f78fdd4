import { describe, expect, it } from '@jest/globals';
import type { Type } from 'avsc';
import { continuationClaims, grantClaims } from '@sluice/run';
import { allTopics, make, recordNames, selfContained } from '@sluice/contracts';
import type { AgentStepResult, Toolset } from '@sluice/contracts';
import { typeOf } from '../../libs/contracts/src/codec.js';
import { recordsOf, releases, schemaOf, typeIn } from './released.js';

const today = (record: string): Type => typeOf(selfContained(record));
const samples = 20;

/** The record as another version gets it. */
function passed(record: unknown, writer: Type, reader: Type): unknown {
  return reader.fromBuffer(writer.toBuffer(record), reader.createResolver(writer));
}

/** Members that both versions know, all the way down. */
function common(value: unknown, other: unknown): unknown {
  if (Array.isArray(value)) return value.map((item, index) => common(item, (other as unknown[])[index]));
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value) || other === null) return value;
  const members = Object.entries(value).filter(([name]) => name in (other as object));
  return Object.fromEntries(members.map(([name, member]) => [name, common(member, (other as never)[name])]));
}

describe('records of old and new services side by side', () => {
  for (const release of releases) {
    it.each(recordsOf(release))(
      `a %s of release ${release} is read by today’s services, and the reverse (G-44)`,
      (record) => {
        const [old, now] = [typeIn(release, record), today(record)];
        for (const [writer, reader] of [
          [old, now],
          [now, old],
        ] as const)
          // prettier-ignore
          for (let n = 0; n < samples; n++) {
          const written = writer.random();
          const read = passed(written, writer, reader);
          expect(common(read, written)).toEqual(common(written, read));
        }
      },
    );
  }

  it('every release had every topic’s record that the one before had', () => {
    for (const release of releases) {
      const topics = allTopics.map((topic) => recordNames[topic]);
      expect(topics).toEqual(expect.arrayContaining([...recordsOf(release)]));
    }
  });

  it('all releases read each other’s: none is between two others', () => {
    for (const writer of releases)
      for (const reader of releases)
        for (const record of recordsOf(writer).filter((name) => recordsOf(reader).includes(name)))
          expect(() => typeIn(reader, record).createResolver(typeIn(writer, record))).not.toThrow();
  });
});

describe('what today’s services sign', () => {
  const step = { thought: 't', action: 'a', arguments: '{}', observation: 'o', outcome: 'ok', reason: null };
  const steps = [
    {
      ...step,
      stateBefore: 's',
      state: 't',
      toolCallId: 'c',
      iteration: 1,
      index: 0,
      startedAt: 1,
      endedAt: 2,
      resultHash: null,
      agentRun: null,
      providerData: null,
      cachedAt: null,
      documentation: null,
      content: [],
      questions: [],
      rule: null,
      facts: {},
      edited: null,
    },
  ];
  const ids = { requestId: 'r', sessionId: 's' };
  const request = {
    ...make.agentRequest({ question: 'Who?', state: 't', group: ['a'], history: steps, maxIterations: 3 }),
    ...ids,
  };
  const principal = { tenantId: 't', actorId: 'user:a', subjectId: null, groups: ['*'], connections: [] };
  const run = {
    ...{ iteration: 1, maxIterations: 3, startedAt: 1, deadline: 9, initialState: 's', stateEnteredAt: 2 },
    ...{
      stateTransitions: [],
      requestedGroups: ['a'],
      availableTools: ['a'],
      filteredByGroup: [],
      filteredByState: [],
      firstTools: null,
    },
    ...{
      inputTokens: 1,
      outputTokens: 1,
      cachedInputTokens: 0,
      cacheWriteTokens: 0,
      definitionTokens: null,
      otherModels: null,
      resultTokens: null,
      otherTokens: null,
      parkedMs: null,
      toolCalls: { a: 1 },
      principal,
      redrive: null,
      answer: null,
      parent: null,
      conditions: null,
      strategy: null,
      memory: null,
    },
  };

  /** Release 1 did not know who asks, which is signed since: its services cannot stand in a run of today’s. */
  const signing = releases.filter((release) => schemaOf(release, 'AgentStepResult').includes('"principal"'));

  it.each(signing)('is still what they signed after a service of release %s passed it on', (release) => {
    const continuation = {
      ...ids,
      iteration: 1,
      steps,
      next: request,
      run,
      configVersion: 'v',
      inForceVersion: '',
      signature: 'x',
      recordSignature: null,
      list: null,
      call: null,
    };
    const toolset = {
      ...{ ...ids, iteration: 1, request, run, state: 't', groups: ['a'], tools: [], hidden: [], hiddenCounts: {} },
      ...{ unknownGroups: [], unavailable: [], configVersion: 'v', decidedAt: 3, grant: 'x' },
      ...{ toolChoice: null, recordSignature: null, fallbackGroups: [], list: null, hiddenIndexes: [] },
    };
    const there = <T>(record: string, value: T): readonly [sent: T, back: T] => {
      const [old, now] = [typeIn(release, record), today(record)];
      return [passed(value, now, now) as T, passed(passed(value, now, old), old, now) as T];
    };
    const [signed, back] = there<AgentStepResult>('AgentStepResult', continuation);
    expect(continuationClaims(back)).toEqual(continuationClaims(signed));
    const [granted, returned] = there<Toolset>('Toolset', toolset);
    const turn = (of: Toolset) => ({ ...of, tools: of.tools.map(({ id }) => id) });
    expect(grantClaims(turn(returned), 0)).toEqual(grantClaims(turn(granted), 0));
  });
});
