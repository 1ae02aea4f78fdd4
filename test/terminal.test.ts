import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { printable, printableIn } from '@sluice/core';
import { make, topics } from '@sluice/contracts';
import type { AgentResponse, ApprovalRequested } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { ApprovalClaims } from '@sluice/run';
import { createLog, openLedger, openLogFile, readEnvironment, systemClock } from '@sluice/host';
import { newRequest } from '../apps/sluice/src/run-request.js';
import { AuditStory } from '../apps/sluice/src/show/audit-story.js';
import { Story } from '../apps/sluice/src/show/story.js';
import { command } from './harness/command.js';

const plain = new Proxy({}, { get: () => (text: string) => text }) as ConstructorParameters<typeof Story>[1];
const steering = 'before\u001b]0;title\u0007\u009b2J\u007fafter\u202etxt.exe\u2066';
const shown = 'before�]0;title��2J�after�txt.exe�';

describe('what a record says does not steer the terminal of the reader', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-terminal-'));
  const variables = { SLUICE_DATA: folder };
  beforeAll(async () => {
    const [environment, log] = [readEnvironment(variables), createLog('warn', process.stderr)];
    const bus = await openLogFile(environment, log);
    const request = newRequest(steering, { requestId: 'r', sessionId: 's' });
    const letter = {
      ...{ topic: topics.requests, partition: 0, offset: 0, group: 'filter', key: 's', value: Buffer.from('{}') },
      ...{ headers: { [steering]: steering }, timestamp: 1, code: 'invalid_request', reason: steering, attempts: 1 },
      failedAt: 1,
    };
    const approval = {
      ...{ approvalId: 'a-1', requestId: 'r', sessionId: 's', iteration: 1, index: 0, tool: 'core__clock' },
      ...{ arguments: '{"a":"\\u009b2J"}', argumentsHash: '', effect: 'state_change', thought: steering },
      ...{ requestedBy: steering, onBehalfOf: null, requestedAt: 1, expiresAt: Date.now() + 60_000, steps: [] },
      ...{ topic: topics.toolCalls, partition: 0, offset: 0 },
    };
    await bus.publish([
      { topic: topics.requests, key: steering, record: request },
      {
        topic: topics.config,
        key: 'config',
        record: { version: 'c-1', configuration: '{}', source: steering, compiledAt: 1 },
      },
      { topic: topics.deadLetters, key: 's', record: letter },
      { topic: topics.approvals, key: 's', record: make.approval({ requested: make.approvalRequested(approval) }) },
    ] as unknown as Parameters<typeof bus.publish>[0]);
    await bus.close();
    // As the executor does that asks for an approval: else it counts for nothing, and is not shown.
    const { ledger } = await openLedger(environment, log);
    await new ApprovalClaims({ ledger, clock: systemClock }).vouch(
      make.approvalRequested(approval) as ApprovalRequested,
    );
    await ledger.close();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    [['tail', '--from', 'start', '--once', '--topic', 'agent.requests']],
    [['config', 'list']],
    [['dead-letters', 'list']],
    [['dead-letters', 'show', '0/0']],
    [['approvals', 'list']],
    [['approvals', 'show', 'a-1']],
  ])('%j', async (args) => {
    const { code, output } = await command(args, variables);
    expect([code, output]).toEqual([0, expect.stringContaining(shown.slice(0, 15))]);
    expect(output).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}/u);
  });

  it('`ask`', () => {
    let said = '';
    const record = {
      requestId: 'r',
      error: null,
      answer: `${steering}\nsecond line`,
      decision: null,
      incomplete: null,
      structured: null,
      history: [],
    } as unknown as AgentResponse;
    new Story((text) => (said += text), plain).tell({ topic: 'agent.responses', record } as Incoming);
    expect(said).toBe(`\nAnswer  ${shown}\nsecond line\n`);
  });

  it('`audit show`', () => {
    let said = '';
    const entry = { kind: 'run_ended', at: '2026-11-22T05:00:00.000Z', request_id: steering, config_version: '' };
    const details = { outcome: 'error', message: steering };
    const told = { ...entry, session_id: 's', chain: '', sequence: 1, source_offset: 0, details };
    new AuditStory((text) => (said += text), plain).tell(told);
    expect(said).toContain(`Run ${shown}\n`);
    expect(said).toContain(`ended without an answer: ${shown}`);
  });

  it.each([
    [
      'that were too many to be kept',
      { calls: [{ tool: 'core__a' }], omitted_calls: 4_920 },
      /chose core__a and made 4920 more calls/,
    ],
    [
      'of an entry that was too large',
      { too_long: 700_000, hash: 'ab'.repeat(32) },
      /what the model chose was too large .* 700000 bytes/,
    ],
  ])('`audit show` does not say that nothing was chosen of calls %s', (_, details, says) => {
    let said = '';
    const entry = { kind: 'calls_chosen', at: '2026-11-22T05:00:00.000Z', request_id: 'r', config_version: '' };
    const told = { ...entry, session_id: 's', chain: '', sequence: 1, source_offset: 0, details };
    new AuditStory((text) => (said += text), plain).tell(told);
    expect(said).toMatch(says);
    expect(said).not.toContain('nothing');
  });

  it.each(['\u061c', '\u200e', '\u200f', '\u202a', '\u202e', '\u2066', '\u2069'])(
    'nor does it turn round what is read: %j',
    (mark) => expect(printable(`gpj${mark}exe`)).toBe('gpj�exe'),
  );

  it('lines, tabs and bytes stay as they are', () => {
    expect(printable('a\r\nb\tc\n')).toBe('a\nb\tc\n');
    const bytes = Buffer.from('\u001b');
    expect(printableIn({ bytes, list: [1, null, true, '\r'], '\u001b': undefined })).toEqual({
      bytes,
      list: [1, null, true, '�'],
      '�': undefined,
    });
  });
});
