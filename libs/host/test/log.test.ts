import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { HandlerContext } from '@sluice/bus';
import { withLogContext, createLog } from '@sluice/host';
import { partLog } from '../src/log.js';
import { staysAbout } from '../src/log-context.js';
import { humanLines } from '../src/human-lines.js';

function listening(level = 'info') {
  const lines: string[] = [];
  const log = createLog(level, { write: (line) => void lines.push(line) });
  return { log, text: () => lines.join(''), last: () => JSON.parse(lines.at(-1) ?? '{}') as Record<string, unknown> };
}

describe('a line of the log', () => {
  it.each([
    'authorization',
    'Authorization',
    'cookie',
    'password',
    'secret',
    'client_secret',
    'token',
    'access_token',
    'refresh_token',
    'api_key',
    'private_key',
    'credential',
  ])('never holds what stands under the name %s', (name) => {
    const { log, text } = listening();
    log.info({ [name]: 'marker-1', headers: { [name]: 'marker-2' }, kept: 'marker-3' }, 'said');
    expect(text()).not.toMatch(/marker-[12]/);
    expect(text()).toContain('marker-3');
  });

  it('says whose it is, as long as the work goes on, and what it says itself wins', async () => {
    const { log, last } = listening();
    await withLogContext({ request_id: 'r-1', session_id: 's-1', trace_id: 't-1' }, async () => {
      await turn();
      log.info('said');
      expect(last()).toMatchObject({ request_id: 'r-1', session_id: 's-1', trace_id: 't-1' });
      log.info({ request_id: 'another' }, 'said');
      expect(last()).toMatchObject({ request_id: 'another', session_id: 's-1' });
    });
    log.info('said');
    expect(Object.keys(last()).sort()).toEqual(['level', 'msg', 'time']);
  });

  it('says whose it is after the commit as well, when others are handled', () => {
    const { log, last } = listening();
    const actions: (() => void)[] = [];
    const context = { attempt: 1, afterCommit: (action: () => void) => void actions.push(action) } as HandlerContext;
    withLogContext({ request_id: 'r-1' }, () => staysAbout(context).afterCommit(() => log.info('committed')));
    withLogContext({ request_id: 'r-2' }, () => actions.forEach((action) => action()));
    expect(last()).toMatchObject({ request_id: 'r-1', msg: 'committed' });
  });

  it('has no record again where an action after the commit asks a part that many share, and is the record’s afterwards', () => {
    const { log, last } = listening();
    const actions: (() => void)[] = [];
    const context = { attempt: 1, afterCommit: (action: () => void) => void actions.push(action) } as HandlerContext;
    withLogContext({ request_id: 'r-1' }, () =>
      staysAbout(context).afterCommit(() => {
        partLog(log)('warn', 'slow', { part: 'ledger' });
        expect(last()).not.toHaveProperty('request_id');
        log.info('committed');
        throw new Error('on purpose');
      }),
    );
    expect(() => actions.forEach((action) => action())).toThrow('on purpose');
    expect(last()).toMatchObject({ request_id: 'r-1', msg: 'committed' });
    log.info('said');
    expect(last()).not.toHaveProperty('request_id');
  });

  it('has no record where a part speaks that many share', () => {
    const { log, last } = listening();
    withLogContext({ request_id: 'r-1' }, () => partLog(log)('warn', 'the connection was lost', { part: 'ledger' }));
    expect(last()).toMatchObject({ part: 'ledger', msg: 'the connection was lost' });
    expect(last()).not.toHaveProperty('request_id');
  });
});

describe('a line for a terminal', () => {
  const human = (line: object): string => {
    let said = '';
    const log = createLog('info', humanLines({ write: (text) => (said += text) }));
    log.warn(line, 'it happened');
    return said;
  };

  it('has the time, the level and the message before the rest', () => {
    expect(human({ request_id: 'r-1', groups: ['a b'] })).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3} WARN {2}it happened request_id=r-1 groups=\["a b"\]\n$/,
    );
  });

  it('lets no sender steer the terminal by what they send', () => {
    const said = human({ request_id: '\u001b[2J\u009b31m', other: 'x\u001b]0;title\u0007' });
    expect(said).not.toMatch(/[^\P{Cc}\n]/u);
  });
});
