import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLog, createMetrics } from '@sluice/host';
import { Health } from '../src/health.js';
import { serveOperations } from '../src/operations.js';
import type { Log } from '@sluice/host';
import type { Operations } from '../src/operations.js';
import { LogLevelController } from '../src/log-level.js';

describe('the log level of a running process', () => {
  const lines: string[] = [];
  let log: Log;
  let operations: Operations;
  beforeAll(async () => {
    log = createLog('info', { write: (line) => void lines.push(line) });
    const parts = { health: new Health(), metrics: createMetrics(), log };
    operations = await serveOperations({ host: '127.0.0.1', port: 0, allowedHosts: ['sluice.example'], ...parts });
  });
  afterAll(() => operations.close());

  function ask(method: string, body?: string, headers: Record<string, string> = {}, path = '/log-level') {
    return new Promise<{ status: number; body: string }>((resolve, reject) => {
      const asked = request(
        `${operations.url}${path}`,
        { method, headers: { 'content-type': 'application/json', ...headers } },
        (response) => {
          let text = '';
          response.on('data', (piece: Buffer) => (text += piece.toString()));
          response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
        },
      );
      asked.on('error', reject).end(body);
    });
  }

  it('is reported, and changed at once, and the change is a line', async () => {
    log.level = 'info';
    log.debug('not said');
    expect(await ask('PUT', '{"level":"debug"}')).toEqual({ status: 200, body: '{"level":"debug"}' });
    log.debug('said');
    expect(await ask('GET')).toEqual({ status: 200, body: '{"level":"debug"}' });
    expect(lines.join('')).toContain('"before":"info"');
    expect(lines.join('')).toContain('"msg":"said"');
    expect(lines.join('')).not.toContain('"msg":"not said"');
  });

  it.each(['{"level":"loud"}', '{}', 'not json', undefined])('stays what it is where %s is sent', async (body) => {
    log.level = 'info';
    const { status, body: said } = await ask('PUT', body);
    expect(status).toBe(400);
    if (body !== 'not json') expect(said).toContain('fatal, error, warn, info, debug, trace, silent');
    expect(log.level).toBe('info');
  });

  it('stays what it is where a page asks by a name of its own', async () => {
    log.level = 'info';
    const { status, body } = await ask('PUT', '{"level":"trace"}', { host: 'attacker.example:8090' });
    expect([status, log.level]).toEqual([403, 'info']);
    expect(body).toContain('127.0.0.1');
  });

  it.each(['/metrics', '/health/ready', '/log-level'])(
    'has a loopback name or a configured one, as %s has',
    async (path) => {
      const foreign = await ask('GET', undefined, { host: 'attacker.example:8090' }, path);
      expect([foreign.status, foreign.body]).toEqual([403, expect.stringContaining('SLUICE_ALLOWED_HOSTS')]);
      for (const host of ['localhost:8090', '127.0.0.1', '[::1]:8090', 'sluice.example', 'Sluice.Example.:80'])
        expect((await ask('GET', undefined, { host }, path)).status).toBe(200);
    },
  );

  it.each([
    ['10.0.0.7', '10.0.0.1:8090', false],
    ['::ffff:192.168.1.9', 'localhost:8090', false],
    ['::ffff:127.0.0.1', 'localhost:8090', true],
    ['::1', '[::1]:8090', true],
    ['127.0.0.1', '127.evil.example', false],
  ])('is changed from %s as %s: %s', (remoteAddress, host, may) => {
    log.level = 'info';
    const change = () =>
      new LogLevelController(log).change({ socket: { remoteAddress }, headers: { host } }, { level: 'debug' });
    if (may) change();
    else expect(change).toThrow('from the machine itself');
    expect(log.level).toBe(may ? 'debug' : 'info');
  });
});
