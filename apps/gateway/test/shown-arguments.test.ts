import { describe, expect, it } from '@jest/globals';
import { make } from '@sluice/contracts';
import { shownArguments } from '@sluice/core';
import type { ConfiguredTool } from '@sluice/core';
import { CallParts } from '../src/stream/call-parts.js';
import { RunProgress } from '../src/run-progress.js';
import { ofRecords } from '../src/record-view.js';

const schema = { type: 'object', properties: { user: { type: 'string' }, token: { type: 'string', writeOnly: true } } };
const tools = [
  { id: 'core__login', key: 'login', spec: { inputSchema: schema } },
  { id: 'core__now', key: 'now', spec: { inputSchema: { type: 'object' } } },
] as unknown as readonly Pick<ConfiguredTool, 'id' | 'key' | 'spec'>[];
const shown = shownArguments(tools);
const written = '{"user": "ann", "token": "s3cret"}';
const without = '{"user":"ann","token":"[redacted]"}';

describe('the arguments that callers read', () => {
  it('lack what an approver is not shown, by the id and by the key of the tool', () => {
    expect([shown('login', written), shown('core__login', written)]).toEqual([without, without]);
    expect(shown('login', '{"token": s3cret')).toBe('[redacted]');
    expect([shown('now', written), shown('unheard-of', written), shown('login', '')]).toEqual([written, written, '']);
  });

  it('are those of calls in the JSON of a run and in its stream', () => {
    const progress = new RunProgress({ ...ofRecords, shown });
    const step = make.agentStep({ action: 'login', arguments: written, outcome: 'ok', iteration: 1 });
    const history = [step, { ...step, action: 'now' }];
    progress.add({ topic: 'agent.responses', record: { history, run: null } } as unknown as Parameters<RunProgress['add']>[0]); // prettier-ignore
    expect(progress.json()).toMatchObject({ tool_calls: [{ arguments: without }, { arguments: written }] });
    const parts = new CallParts(() => 0, shown);
    const chunks = parts.open({ iteration: 1, index: 0 }, { id: 'c', tool: 'core__login', args: written });
    expect(chunks).toContainEqual(expect.objectContaining({ type: 'text-delta', textDelta: without }));
  });
});
