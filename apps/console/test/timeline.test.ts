import { describe, expect, it } from '@jest/globals';
import type { RunEvent, ToolCall } from '@sluice/client';
import { originsOf } from '../src/pages/run/origins.js';
import { RunTimeline } from '../src/pages/run/timeline/model.js';
import type { CallItem } from '../src/pages/run/timeline/model.js';
import { rowsOf } from '../src/pages/run/timeline/rows.js';
import type { Row } from '../src/pages/run/timeline/row-kinds.js';
import type { TimelineView } from '../src/pages/run/timeline/rows.js';
import { timeScale } from '../src/pages/run/timeline/scale.js';
import { wayOf } from '../src/pages/run/states/way.js';

const everything: TimelineView = { onlyFailed: false, folded: new Set() };

const iteration = (number: number, state = 'start'): RunEvent => ({
  ...{ type: 'iteration', iteration: number, state, tools: ['core__search'] },
});
const call = (id: string, number: number, args: unknown = {}, tool = 'core__search'): RunEvent => ({
  ...{ type: 'tool_call', iteration: number, tool_call_id: id, tool, arguments: JSON.stringify(args) },
});
const result = (id: string, value: unknown, step: Partial<Step> = {}): RunEvent => ({
  ...{ type: 'tool_result', tool_call_id: id, result: value, is_preliminary: false },
  is_error: (step.outcome ?? 'ok') !== 'ok',
  step: { outcome: 'ok', reason: null, state_before: 'start', state: 'start', ...step },
});
type Step = NonNullable<Extract<RunEvent, { type: 'tool_result' }>['step']>;

const approval = (id: string, callId: string): RunEvent =>
  ({
    type: 'approval_requested',
    approval: { approval_id: id, tool_call_id: callId, iteration: 1, requested_at: 1_000, expires_at: 9_000 },
  }) as unknown as RunEvent;

function timelineOf(...events: readonly RunEvent[]): RunTimeline {
  const timeline = new RunTimeline('run-1');
  for (const event of events) timeline.apply(event, 5_000);
  return timeline;
}

function callOf(timeline: RunTimeline, id: string): CallItem {
  const call = timeline.calls.get(id);
  if (call === undefined) throw new Error(`There is no call ${id}.`);
  return call;
}

interface Times {
  readonly times?: ReadonlyMap<string, ToolCall>;
  readonly decidedAt?: ReadonlyMap<number, number>;
}

const rows = (timeline: RunTimeline, view = everything, { times, decidedAt }: Times = {}): readonly Row[] =>
  rowsOf(
    { timeline, times: times ?? new Map(), keys: new Map(), decidedAt: decidedAt ?? new Map(), endedAt: 1, now: 0 },
    view,
  ).rows;

const kinds = (found: readonly Row[]): readonly string[] =>
  found.map((row) => `${'>'.repeat(row.depth)}${row.kind === 'call' ? `call ${row.call.id} ${row.status}` : row.kind}`);

const ran = (id: string, from: number, ms: number): readonly [string, ToolCall] => [
  id,
  { id, tool: 'search', started_at: from, duration_ms: ms } as ToolCall,
];

describe('the timeline of a run', () => {
  it('has iterations in order, and within each what was said and called', () => {
    const timeline = timelineOf(
      iteration(1),
      { type: 'text', iteration: 1, part: 0, text: 'I sear' },
      { type: 'text', iteration: 1, part: 0, text: 'ch.' },
      call('a', 1),
      result('a', 'found'),
      iteration(2),
      call('b', 2),
      { type: 'tool_started', tool_call_id: 'b' },
    );
    expect(kinds(rows(timeline))).toEqual(['iteration', 'text', 'call a ok', 'iteration', 'call b running']);
    expect(rows(timeline)[1]).toMatchObject({ text: 'I search.' });
  });

  it('puts late events where they belong', () => {
    const timeline = timelineOf(iteration(2), result('a', 'found'), approval('p', 'a'), call('a', 1), iteration(1));
    expect(kinds(rows(timeline))).toEqual(['iteration', 'call a ok', 'approval', 'iteration']);
  });

  it('has each thing once, however often it comes', () => {
    const retry: RunEvent = { type: 'model_retry', iteration: 1, attempt: 1, reason: 'refused', retry_at: 2_000 };
    const events = [iteration(1), retry, approval('p', 'a'), call('a', 1), result('a', 1)];
    expect(kinds(rows(timelineOf(...events, ...events)))).toEqual(['iteration', 'retry', 'call a ok', 'approval']);
  });

  it('takes the result on record over an early one, never the other way', () => {
    const early = { ...result('a', 'early'), is_preliminary: true, step: null } as RunEvent;
    const timeline = timelineOf(iteration(1), call('a', 1), early, result('a', 'late'), early);
    expect(timeline.calls.get('a')?.result?.result).toBe('late');
  });

  it('nests the runs of agents below their calls, also where their events come first', () => {
    const agent = { run_id: 'run-2', name: 'helper', call_id: 'a', caller_run_id: 'run-1' };
    const within = { ...agent, run_id: 'run-3', call_id: 'b', caller_run_id: 'run-2' };
    const timeline = timelineOf(
      ...[iteration(1), call('c', 1)].map((event): RunEvent => ({ type: 'agent', agent: within, event })),
      { type: 'agent', agent, event: iteration(1) },
      { type: 'agent', agent, event: call('b', 1) },
      iteration(1),
      call('a', 1, {}, 'helper'),
    );
    expect(kinds(rows(timeline))).toEqual([
      ...['iteration', 'call a waiting', '>iteration', '>call b waiting', '>>iteration', '>>call c waiting'],
    ]);
  });

  it('ticks the steps of a plan', () => {
    const decision = (number: number, more: object): RunEvent => ({
      ...{ type: 'decision', decision: { iteration: number, strategy: 'plan', ...more } },
    });
    const steps = [{ tool: 'search' }, { tool: 'read' }, { tool: 'write' }];
    const timeline = timelineOf(
      ...[iteration(1), decision(1, { action: 'plan', plan: 1 }), call('p', 1, { steps }), result('p', 'taken')],
      ...[iteration(2), decision(2, { action: 'call', plan: 1, step: 1 }), call('a', 2), result('a', 1)],
      ...[iteration(3), decision(3, { action: 'call', plan: 1, step: 2 }), call('b', 3)],
    );
    const plan = rows(timeline).find((row) => row.kind === 'plan');
    expect(plan).toMatchObject({ plan: { number: 1 } });
    expect(plan?.kind === 'plan' && plan.plan.steps.map(({ status }) => status)).toEqual(['done', 'running', 'open']);
  });

  it('shows only what failed, with the iterations and agents around it', () => {
    const agent = { run_id: 'run-2', name: 'helper', call_id: 'c', caller_run_id: 'run-1' };
    const failed = { outcome: 'execution', reason: 'timeout' };
    const timeline = timelineOf(
      ...[iteration(1), call('a', 1), result('a', 1), iteration(2), call('b', 2), result('b', 'no', failed)],
      ...[iteration(3), call('c', 3), result('c', 'fine')],
      ...[iteration(1), call('x', 1), result('x', 'no', failed)].map((event): RunEvent => ({
        type: 'agent',
        agent,
        event,
      })),
    );
    expect(kinds(rows(timeline, { ...everything, onlyFailed: true }))).toEqual([
      ...['iteration', 'call b failed', 'iteration', 'call c ok', '>iteration', '>call x failed'],
    ]);
  });

  it('folds an iteration', () => {
    const timeline = timelineOf(iteration(1), call('a', 1), iteration(2), call('b', 2));
    const folded = new Set(['run-1/1']);
    expect(kinds(rows(timeline, { ...everything, folded }))).toEqual(['iteration', 'iteration', 'call b waiting']);
  });

  it('draws idle time short and says how long it was', () => {
    const timeline = timelineOf(
      ...[iteration(1), call('a', 1), approval('p', 'a'), result('a', 1), iteration(2), call('b', 2), result('b', 2)],
    );
    const times = new Map([ran('a', 601_000, 400), ran('b', 602_000, 100)]);
    const found = rows(timeline, everything, { times, decidedAt: new Map([[1, 0], [2, 601_500]]) }); // prettier-ignore
    expect(kinds(found)).toEqual(['iteration', 'idle', 'call a ok', 'approval', 'iteration', 'call b ok']);
    expect(found[1]).toMatchObject({ ms: 600_000, isForApproval: true });
  });

  it('makes rows of 20,000 calls in a moment', () => {
    const timeline = new RunTimeline('run-1');
    const times = new Map<string, ToolCall>();
    for (let n = 1; n <= 20_000; n++) {
      for (const event of [iteration(n), call(`c${n}`, n), result(`c${n}`, n)]) timeline.apply(event, 0);
      times.set(...ran(`c${n}`, n * 10_000, 100));
    }
    const began = performance.now();
    expect(rows(timeline, everything, { times }).length).toBe(59_999);
    expect(performance.now() - began).toBeLessThan(10_000);
  });
});

describe('the time scale', () => {
  it('is true to time while something goes on, and never goes back', () => {
    const scale = timeScale([
      { from: 0, to: 1_000 },
      { from: 500, to: 2_000 },
      { from: 100_000, to: 102_000 },
    ]);
    expect(scale?.idle).toEqual([{ from: 2_000, to: 100_000 }]);
    const places = [0, 1_000, 2_000, 50_000, 100_000, 101_000, 102_000].map((moment) => scale?.at(moment) ?? NaN);
    expect(places).toEqual([...places].sort((one, other) => one - other));
    expect(places[0]).toBe(0);
    expect(places.at(-1)).toBeCloseTo(1);
    expect((places[1] ?? 0) * 2).toBeCloseTo(places[2] ?? 0);
    expect((places[4] ?? 0) - (places[2] ?? 0)).toBeCloseTo(0.03);
  });

  it('is none where nothing has a time', () => expect(timeScale([])).toBeNull());
});

describe('where an argument’s value was seen before', () => {
  it('names the latest earlier result with an equal value, and the question', () => {
    const timeline = timelineOf(
      ...[iteration(1), call('a', 1), result('a', { rows: [{ id: 'order-77', total: 4 }] })],
      ...[
        iteration(2),
        call('b', 2, { order: 'order-77', city: 'Bern', total: 4, note: 'new' }),
        result('b', 'order-77'),
      ],
    );
    const found = originsOf(callOf(timeline, 'b'), timeline, 'What about Bern?');
    expect(found).toEqual([
      {
        path: 'order',
        value: 'order-77',
        from: { kind: 'result', callId: 'a', tool: 'core__search', path: 'rows[0].id' },
      },
      { path: 'city', value: 'Bern', from: { kind: 'question' } },
    ]);
  });
});

describe('where lists of arguments were seen before', () => {
  it('names the whole list, and not each of its values', () => {
    const list = [
      { name: 'Austria', area: 83_871 },
      { name: 'France', area: 551_695 },
    ];
    const timeline = timelineOf(
      ...[iteration(1), call('a', 1), result('a', { rows: list })],
      ...[iteration(2), call('b', 2, { items: list })],
    );
    expect(originsOf(callOf(timeline, 'b'), timeline, null)).toMatchObject([
      { path: 'items', from: { callId: 'a', path: 'rows' } },
    ]);
  });
});

describe('the way through the states', () => {
  it('has each call that led to another state', () => {
    const moved = { state_before: 'start', state: 'analysis' };
    const timeline = timelineOf(iteration(1), call('a', 1), result('a', 1, moved), iteration(2, 'analysis'));
    const way = wayOf(timeline, null);
    expect(way.moves).toMatchObject([{ from: 'start', to: 'analysis', callId: 'a', iteration: 1 }]);
    expect([way.last, ...way.visited]).toEqual(['analysis', 'start', 'analysis']);
  });
});
