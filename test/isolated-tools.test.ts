import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import {
  faultText,
  JsonTooLargeError,
  ToolInputError,
  ToolOutcomeLostError,
  ToolProcessEndedError,
  ToolUnavailableError,
  ToolUserError,
} from '@sluice/core';
import type { ToolContract } from '@sluice/tools';
import { clientsOf } from '@sluice/tools';
import { FileProcesses, processesPerFile, ToolProcesses } from '@sluice/isolation';
import { context, patience } from '../libs/sources/test/configured.js';

const home = mkdtempSync(join(realpathSync(tmpdir()), 'sluice-isolated-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const ends: string[] = [];
const output: string[] = [];
let processes = new ToolProcesses();
afterEach(async () => {
  await processes.close();
  ends.length = 0;
  output.length = 0;
});

/** A tool whose `execute` is this text, with `args.n` and everything that a tool of a file has. */
async function tool(execute: string, { before = '', capabilities = '[]', more = '', loadMs = 60_000 } = {}) {
  const folder = mkdtempSync(join(home, 'folder-'));
  const path = join(folder, 'tool.mjs');
  writeFileSync(
    path,
    `${before}
export default ({ defineTool, z, ToolUserError, ToolUnavailableError, ToolOutcomeLostError }) => defineTool({
  type: 'tried', description: 'Does as the test says.', input: z.object({ n: z.number().default(7) }), output: z.unknown(),
  effect: 'external_side_effect', redaction: { whole: true }, capabilities: ${capabilities}, repeatable: false,
  requiresConnection: ${String(/connections|auth/.test(capabilities))}, ${more}
  execute: async (args, context, capabilities) => { ${execute} },
});`,
  );
  processes = new ToolProcesses({
    loadMs,
    onEnd: (_, type, end) => void ends.push(`${type}:${end}`),
    onOutput: (_, line) => void output.push(line),
  });
  const { contract } = await processes.load(path);
  return { path, folder, contract };
}

function run(contract: ToolContract, given: Record<string, unknown> = {}, signal = patience(), n = 1) {
  return contract
    .execute({ n }, context, { cancellation: { signal }, ...given })
    .then((raw) => contract.parseOutput(raw) as Record<string, unknown>);
}

const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** What the tool could do, by name: the result, or ERR and the error. */
const tries = `const found = {};
const attempt = async (name, work) => { try { found[name] = await work(); } catch (error) { found[name] = 'ERR ' + (error.code ?? error.message); } };`;

describe('a tool of a file', () => {
  it('is checked, run and read through its process as one in this process is', async () => {
    const { contract } = await tool('return { got: args.n, who: context.actorId }');
    expect(contract).toMatchObject({ type: 'tried', effect: 'external_side_effect', repeatable: false });
    expect(await contract.parseInput({})).toEqual({ n: 7 });
    await expect(contract.parseInput({ n: 'one' })).rejects.toThrow(
      new ToolInputError([{ path: '/n', message: 'expected a number, found a string' }]),
    );
    await expect(contract.parseInput({ n: 1, m: 2 })).rejects.toThrow(ToolInputError);
    expect(await run(contract, {}, patience(), 3)).toEqual({ got: 3, who: context.actorId });
  });

  it.each([
    ['Object.prototype', `Object.prototype.left = 'left'`, 'Object.prototype.left'],
    ['a method of lists', `Array.prototype.map = () => []`, 'Array.prototype.map'],
    ['a method that it wraps', `const own = JSON.parse; JSON.parse = (text) => own(text)`, 'JSON.parse'],
    ['a prototype’s prototype', `Object.setPrototypeOf(Map.prototype, { left: 1 })`, 'Map.prototype'],
    ['an accessor', `Object.defineProperty(RegExp.prototype, 'flags', { get: () => 'g' })`, 'RegExp.prototype.flags'],
    [
      'the iteration of lists',
      `Object.getPrototypeOf([][Symbol.iterator]()).next = 1`,
      '%ArrayIteratorPrototype%.next',
    ],
    ['a global of its own', `globalThis.left = 'left'`, 'globalThis.left'],
    ['fetch', `globalThis.fetch = () => 'left'`, 'globalThis.fetch'],
    ['what is loaded when it is looked at', `Response.prototype.text = () => 'left'`, null],
    ['something after its end', `setImmediate(() => { Object.prototype.left = 'left' })`, 'Object.prototype.left'],
  ])('changes %s for that call alone', async (_, change, named) => {
    const { contract } = await tool(
      `if (args.n === 2) { ${change}; return process.pid }
       const fresh = [].map.name === 'map' && Response.prototype.text.name === 'text' && 'a'.match(/a/).length === 1 && [...new Map([[1, 2]])].length === 1;
       return { left: ({}).left ?? globalThis.left, fresh, pid: process.pid };`,
    );
    const changed = await run(contract, {}, patience(), 2);
    const after = await run(contract);
    expect(after).toEqual({ fresh: true, pid: expect.any(Number) });
    expect(after['pid']).not.toBe(changed);
    if (named !== null) expect(output).toEqual([`changed ${named} in a call, so its process was ended`]);
    expect(ends).toEqual([]);
  });

  it('keeps its process where it changes nothing that all code shares, which loads no more of Node', async () => {
    const { contract } = await tool(
      `return { pid: process.pid, fetch: process.moduleLoadList.includes('NativeModule internal/deps/undici/undici') };`,
    );
    const first = await run(contract);
    expect(first['fetch']).toBe(false);
    expect(await run(contract)).toEqual(first);
    expect(output).toEqual([]);
  });

  it('keeps its process from its second call on where it uses every global of Node', async () => {
    const { contract } = await tool(
      `for (const name of Reflect.ownKeys(globalThis)) { try { void globalThis[name]; } catch {} }
       if (args.n === 2) Response.prototype.left = 'left';
       return { pid: process.pid, left: Response.prototype.left };`,
    );
    await run(contract);
    const second = await run(contract);
    expect(await run(contract, {}, patience(), 2)).toEqual({ ...second, left: 'left' });
    expect(output).toEqual([]);
    expect(await run(contract)).toEqual({ pid: expect.any(Number) });
    expect(output).toEqual(['changed Response.prototype.left in a call, so its process was ended']);
  });

  it('that does what it may not says to the operator what, and where', async () => {
    const { contract } = await tool(`(await import('node:fs')).writeFileSync('x', 'x');`);
    const error: unknown = await run(contract).catch((thrown: unknown) => thrown);
    expect(faultText(error)).toMatch(/\[ERR_ACCESS_DENIED\] \[FileSystemWrite .*x\]/);
    expect(faultText(error)).toMatch(/tool\.mjs:\d+:\d+\)?\)$/);
  });

  it('sees no environment, no file but its own, and can write nothing, start nothing and reach no other process (invariant 32, M-93)', async () => {
    process.env['SLUICE_TEST_SECRET'] = 'seen';
    const secret = join(home, 'secret.txt');
    writeFileSync(secret, 'seen');
    const { contract, folder } = await tool(
      `${tries}
       await attempt('env', () => Object.keys(process.env).length + atLoad);
       await attempt('own', async () => (await import('node:fs')).readFileSync(${JSON.stringify('tool.mjs')}, 'utf8').length > 0);
       await attempt('outside', async () => (await import('node:fs')).readFileSync(${JSON.stringify(secret)}, 'utf8'));
       await attempt('environ', async () => (await import('node:fs')).readFileSync('/proc/' + process.ppid + '/environ', 'utf8'));
       await attempt('code', async () => (await import('node:fs')).readFileSync(${JSON.stringify(join(process.cwd(), 'package.json'))}, 'utf8'));
       await attempt('write', async () => (await import('node:fs')).writeFileSync('x', 'x'));
       await attempt('start', async () => (await import('node:child_process')).execSync('id'));
       await attempt('thread', async () => new (await import('node:worker_threads')).Worker('1', { eval: true }) && 1);
       await attempt('sqlite', async () => (await import('node:sqlite')) && 1);
       await attempt('kill', () => process.kill(process.ppid, 0));
       await attempt('kill by name', async () => (await import('node:process')).kill(process.ppid, 0));
       await attempt('debug', () => process._debugProcess(process.ppid));
       await attempt('priority', async () => (await import('node:os')).setPriority(process.ppid, 19));
       await attempt('flags', async () => (await import('node:v8')).setFlagsFromString('--log'));
       await attempt('binding', () => process.binding('fs') && 1);
       return found;`,
      { before: 'const atLoad = Object.keys(process.env).length;' },
    );
    const found = await run(contract);
    delete process.env['SLUICE_TEST_SECRET'];
    const { env, own, ...others } = found;
    expect([env, own]).toEqual([0, true]);
    for (const [name, is] of Object.entries(others)) expect([name, is]).toEqual([name, expect.stringMatching(/^ERR /)]);
    expect(existsSync(join(folder, 'x'))).toBe(false);
  });

  it('cannot read through the link that npm made for a package', async () => {
    const other = mkdtempSync(join(home, 'other-'));
    writeFileSync(join(other, 'key'), 'seen');
    const folder = mkdtempSync(join(home, 'linked-'));
    mkdirSync(join(folder, 'node_modules/mine'), { recursive: true });
    writeFileSync(join(folder, 'node_modules/mine/package.json'), '{"type":"module","main":"index.js"}');
    writeFileSync(join(folder, 'node_modules/mine/index.js'), 'export const two = 2;');
    symlinkSync(other, join(folder, 'node_modules/sluice'));
    const { contract } = await tool('');
    await processes.close();
    processes = new ToolProcesses();
    const text = readFileSync(((await tool('')) as { path: string }).path, 'utf8');
    await processes.close();
    processes = new ToolProcesses();
    writeFileSync(
      join(folder, 'tool.mjs'),
      `import { two } from 'mine';\n${text.replace(
        'execute: async (args, context, capabilities) => {',
        `execute: async () => { const fs = await import('node:fs'); let key; try { key = fs.readFileSync('node_modules/sluice/key', 'utf8'); } catch (error) { key = error.code; } return { two, key };`,
      )}`,
    );
    const loaded = await processes.load(join(folder, 'tool.mjs'));
    expect(await run(loaded.contract)).toEqual({ two: 2, key: 'ERR_ACCESS_DENIED' });
    expect(contract.type).toBe('tried');
  });

  it.each([
    [
      'a stray throw',
      "setTimeout(() => { throw new Error('stray'); }); await new Promise(() => setInterval(() => 0, 1000));",
    ],
    [
      'an unhandled rejection',
      "void Promise.reject(new Error('stray')); await new Promise(() => setInterval(() => 0, 1000));",
    ],
    ['an exit', 'process.exit(0);'],
    ['an abort', 'process.abort();'],
  ])('loses that call alone with %s, and runs the next in another process', async (_, code) => {
    const { contract } = await tool(
      `if (args.n === 1) { ${code} } await new Promise((go) => setTimeout(go, 500)); return { n: args.n };`,
    );
    const [lost, beside] = await Promise.allSettled([run(contract), run(contract, {}, patience(), 2)]);
    expect(lost).toMatchObject({ status: 'rejected', reason: expect.any(ToolProcessEndedError) });
    expect(beside).toEqual({ status: 'fulfilled', value: { n: 2 } });
    expect(await run(contract, {}, patience(), 3)).toEqual({ n: 3 });
    expect(ends).toEqual(['tried:crash']);
  });

  it.each([
    ['of the heap', 'const all = []; for (;;) all.push(new Array(1e5).fill(args.n + all.length));'],
    [
      'beside the heap',
      'const all = []; for (;;) { all.push(Buffer.alloc(2e7, 1)); await new Promise((go) => setTimeout(go, 5)); }',
    ],
  ])('loses its call when it takes too much memory %s', async (_, code) => {
    const { contract } = await tool(code);
    await expect(run(contract)).rejects.toThrow(ToolProcessEndedError);
    expect(ends).toEqual(['tried:memory']);
  });

  it('is cut off in a loop, and does not hold up this process meanwhile', async () => {
    const { contract } = await tool('for (;;);');
    let ticks = 0;
    const ticking = setInterval(() => ticks++, 20);
    const began = performance.now();
    await expect(run(contract, {}, AbortSignal.timeout(300))).rejects.toThrow(ToolProcessEndedError);
    clearInterval(ticking);
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(ticks).toBeGreaterThan(20);
    expect(ends).toEqual(['tried:time']);
  });

  it('hears that its call has ended, and is used again if it heeds that', async () => {
    const { contract } = await tool(
      `if (args.n === 2) return { pid: process.pid };
       await new Promise((go) => capabilities.cancellation.signal.addEventListener('abort', go)); return { pid: process.pid };`,
      { capabilities: "['cancellation']" },
    );
    const first = await run(contract, {}, AbortSignal.timeout(100));
    expect(await run(contract, {}, patience(), 2)).toEqual(first);
    expect(ends).toEqual([]);
  });

  it('is lost when its process is killed in the midst of a call', async () => {
    const { contract } = await tool(
      'capabilities.progress.report(String(process.pid)); await new Promise(() => setInterval(() => 0, 1000));',
      { capabilities: "['progress']" },
    );
    const call = run(contract, { progress: { report: (pid: string) => process.kill(Number(pid), 'SIGKILL') } });
    const error: unknown = await call.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ToolProcessEndedError);
    expect(error).toBeInstanceOf(ToolOutcomeLostError);
  });

  it('has its calls side by side, as many as there may be processes', async () => {
    const { contract } = await tool('await new Promise((go) => setTimeout(go, 300)); return { pid: process.pid };');
    const calls = Array.from({ length: processesPerFile + 2 }, () => run(contract));
    const pids = (await Promise.all(calls)).map(({ pid }) => pid);
    expect(new Set(pids).size).toBe(processesPerFile);
  });

  it('throws what it threw, as far as the pipeline knows it', async () => {
    const { contract } = await tool(
      `if (args.n === 1) throw new ToolUserError('Say it otherwise.');
       if (args.n === 2) throw new ToolUnavailableError('It is away.');
       if (args.n === 3) throw new ToolOutcomeLostError('No answer.');
       throw new Error('inner');`,
    );
    await expect(run(contract)).rejects.toThrow(new ToolUserError('Say it otherwise.'));
    await expect(run(contract, {}, patience(), 2)).rejects.toThrow(ToolUnavailableError);
    await expect(run(contract, {}, patience(), 3)).rejects.toThrow(ToolOutcomeLostError);
    await expect(run(contract, {}, patience(), 4)).rejects.not.toThrow(ToolUserError);
  });

  it('gives nothing that is too large or of another shape', async () => {
    const { contract } = await tool("if (args.n === 1) return 'x'.repeat(2e7); return { then: 1n };");
    await expect(run(contract)).rejects.toThrow(JsonTooLargeError);
    await expect(run(contract, {}, patience(), 2)).rejects.toThrow(TypeError);
  });

  it('uses its capabilities over messages, those that it declares and no others', async () => {
    const asked: unknown[] = [];
    const { contract } = await tool(
      `const { workspace, knowledge, text, clock, idempotency, progress, cancellation } = capabilities;
       progress.report('half');
       const read = await workspace.read('a', 0, 10);
       const found = await knowledge.find('a', undefined, cancellation.signal);
       let refused; try { await workspace.write('a', 'b'); } catch (error) { refused = [error instanceof ToolUserError, error.message]; }
       const stop = new AbortController(); setTimeout(() => stop.abort(new Error('enough')), 50);
       const stopped = await text.complete('go on', stop.signal).catch((error) => error.message);
       return { read, found, refused, stopped, near: Math.abs(clock.now() - 1e12) < 60_000, key: idempotency.key, names: Object.keys(capabilities).length };`,
      { capabilities: "['workspace', 'knowledge', 'text', 'clock', 'idempotency', 'progress', 'cancellation']" },
    );
    const stopped = Promise.withResolvers<string>();
    const result = await run(contract, {
      progress: { report: (line: string) => asked.push(line) },
      workspace: {
        read: async (...args: unknown[]) => ({ text: 'x', args }),
        write: async () => {
          throw new ToolUserError('Not there.');
        },
      },
      knowledge: { find: async (...args: unknown[]) => ({ rows: [], count: args[1] === undefined ? 1 : 0 }) },
      text: {
        complete: (_: string, signal: AbortSignal) =>
          new Promise((__, reject) => {
            signal.addEventListener('abort', () => {
              stopped.resolve('heard');
              reject(signal.reason as Error);
            });
          }),
      },
      clock: { now: () => 1e12 },
      idempotency: { key: 'the-key' },
    });
    expect(result).toEqual({
      read: { text: 'x', args: ['a', 0, 10] },
      found: { rows: [], count: 1 },
      refused: [true, 'Not there.'],
      stopped: 'enough',
      near: true,
      key: 'the-key',
      names: 7,
    });
    expect(await stopped.promise).toBe('heard');
    expect(asked).toEqual(['half']);
  });

  it('never has the credential that its requests carry', async () => {
    const server = createServer((request, response) => {
      request.setEncoding('utf8');
      let body = '';
      request.on('data', (text: string) => (body += text));
      request.on('end', () => {
        response.setHeader('x-seen', String(request.headers.authorization));
        response.writeHead(201);
        response.end(`${request.method ?? ''} ${body}`);
      });
    }).listen(0, '127.0.0.1');
    await new Promise((listening) => server.once('listening', listening));
    const { port } = server.address() as AddressInfo;
    const { contract } = await tool(
      `const client = capabilities.connections.for(context.connectionId);
       let other; try { capabilities.connections.for('another'); } catch (error) { other = error.message; }
       const response = await client.fetch('http://127.0.0.1:${port}/x', { method: 'POST', body: 'ä' });
       return { status: response.status, ok: response.ok, url: response.url.length > 0, seen: response.headers.get('x-seen'), text: await response.text(), other };`,
      { capabilities: "['connections']" },
    );
    const hosts = [`http://127.0.0.1:${port}`];
    const credential = { connectionId: 'c', hosts, token: 'the-token', renew: async () => false };
    const raw = await contract.execute(
      { n: 1 },
      { ...context, connectionId: 'c' },
      {
        cancellation: { signal: patience() },
        connections: clientsOf(credential, patience()),
      },
    );
    expect(contract.parseOutput(raw)).toEqual({
      status: 201,
      ok: true,
      url: true,
      seen: 'Bearer the-token',
      text: 'POST ä',
      other: 'A call may use the connection of its context and no other.',
    });
    server.close();
  });

  it('is run from the bytes that were loaded, whatever the file holds later', async () => {
    const { contract, path } = await tool('process.exit(args.n === 1 ? 1 : 0)');
    writeFileSync(path, readFileSync(path, 'utf8').replace('process.exit(args.n === 1 ? 1 : 0)', 'return 5'));
    await expect(run(contract)).rejects.toThrow(ToolProcessEndedError);
    await expect(run(contract)).rejects.toThrow(ToolProcessEndedError);
    const later = await processes.load(path);
    expect(await run(later.contract)).toBe(5);
  });

  it('writes lines that are passed on', async () => {
    const { contract } = await tool("console.log('one'); console.error('two'); return 1;");
    await run(contract);
    await sleep(100);
    expect(output.sort()).toEqual(['one', 'two']);
  });

  it('is gone when the processes are closed, also in the midst of a loop', async () => {
    const { contract } = await tool('capabilities.progress.report(String(process.pid)); for (;;);', {
      capabilities: "['progress']",
    });
    const pid = Promise.withResolvers<string>();
    const call = run(contract, { progress: { report: pid.resolve } }).catch((error: unknown) => error);
    const id = Number(await pid.promise);
    expect(alive(id)).toBe(true);
    await processes.close();
    expect(alive(id)).toBe(false);
    expect(await call).toBeInstanceOf(ToolProcessEndedError);
    await expect(run(contract)).rejects.toThrow(ToolUnavailableError);
  });
});

describe('a file that is no tool', () => {
  it.each([
    ['an exit while it is loaded', 'process.exit(3);', /^Its process ended while it was loaded: .*exit code 3/],
    ['an endless loop', 'for (;;);', /^It was not loaded in its time/],
    ['a throw', "throw new Error('not today');", /^not today \(line 1, column 7\)$/],
    [
      'a file outside its folder',
      "import '../outside.mjs';",
      /^It uses \S*outside\.mjs: a tool may read its own folder/,
    ],
  ])(
    'is refused with %s',
    async (_, before, why) => {
      writeFileSync(join(home, 'outside.mjs'), 'export {};');
      await expect(tool('return 1;', { before, loadMs: before.startsWith('for') ? 3_000 : 60_000 })).rejects.toThrow(
        why,
      );
    },
    30_000,
  );
});

describe('the processes of tools', () => {
  it('are not started once they are closed, also for a file that is being loaded', async () => {
    const { path } = await tool('return 1');
    const others = new ToolProcesses();
    const loading = others.load(path);
    const refused = expect(loading).rejects.toThrow('The service is being stopped.');
    await others.close();
    await refused;
    const source = readFileSync(path);
    const file = new FileProcesses(path, path, source, {});
    const described = expect(file.describe()).rejects.toThrow('The service is being stopped.');
    await file.close();
    await described;
  });

  it.each([
    ['waits', 'await new Promise(() => setInterval(() => 0, 1000));'],
    ['loops', 'for (;;);'],
  ])('end with a service that is killed while a tool %s', async (_, code) => {
    const { path } = await tool(`capabilities.progress.report(String(process.pid)); ${code}`, {
      capabilities: "['progress']",
    });
    const index = pathToFileURL(join(import.meta.dirname, '../libs/isolation/src/index.ts')).href;
    const script = join(home, 'service.mjs');
    writeFileSync(
      script,
      `import { ToolProcesses } from '${index}';
       const { contract } = await new ToolProcesses().load(${JSON.stringify(path)});
       const signal = new AbortController().signal;
       await contract.execute({ n: 1 }, ${JSON.stringify(context)}, { cancellation: { signal }, progress: { report: (pid) => console.log(pid) } });`,
    );
    const hooks = join(import.meta.dirname, 'process/typescript.mjs');
    const service = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', '--experimental-transform-types', `--import=${hooks}`, script],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const pid = Number(
      await new Promise((said) => service.stdout.once('data', (data: Buffer) => said(data.toString()))),
    );
    expect(alive(pid)).toBe(true);
    service.kill('SIGKILL');
    for (let waited = 0; alive(pid) && waited < 600; waited++) await sleep(100);
    expect(alive(pid)).toBe(false);
  });
});
