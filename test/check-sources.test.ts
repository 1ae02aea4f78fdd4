import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { serveOpenFga } from '../libs/authorization/test/openfga-server.js';
import { workflowConfiguration } from './harness/configurations.js';
import { command } from './harness/command.js';
import { infra, startTimeout } from './infra/client.ts';
import { freshDatabase } from './infra/fresh.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-check-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** `sluice check` of the workflow with this source of permissions, and what else stands there. */
async function check(permissions: string, variables: Readonly<Record<string, string>> = {}, more = '') {
  const config = join(folder, 'sluice.yaml');
  const identity =
    permissions === ''
      ? ''
      : `identity: { provider: jwt, issuer: "https://issuer.example", audience: a, jwks_url: "https://issuer.example/keys", permissions: ${permissions} }`;
  writeFileSync(config, workflowConfiguration({ limits: `${identity}\n${more}`, allowed: 'text-completion' }));
  const lenient = await command(['check', config], { SLUICE_DATA: folder, ...variables });
  const strict = await command(['check', '--strict', config], { SLUICE_DATA: folder, ...variables });
  expect(strict.output.slice(1)).toBe(lenient.output.slice(1));
  return { codes: [lenient.code, strict.code], output: lenient.output };
}

describe('sluice check asks what the configuration relies on outside of it', () => {
  it('a file of users: says which user is wrong, or that there is none', async () => {
    const file = join(folder, 'users.yaml');
    const users = `{ users: { file: "${file}" } }`;
    writeFileSync(file, 'acme: { user:ann: [read-only] }');
    expect((await check(users)).codes).toEqual([0, 0]);
    writeFileSync(file, 'acme: { user:ann: 7 }');
    const wrong = await check(users);
    expect(wrong.codes[1]).toBe(1);
    expect(wrong.output).toContain('user:ann');
    rmSync(file);
    const missing = await check(users);
    expect(missing.codes[1]).toBe(1);
    expect(missing.output).toContain('it is not there');
  });

  it('an MCP server whose tools patterns bring in: says that they are missing', async () => {
    const config = join(folder, 'patterns.yaml');
    writeFileSync(
      config,
      `tool: { files: { type: mcp-tool, group: [files] }, now: { type: get_current_time, group: [files] } }
mcp:
  servers: { disk: { command: no-such-command-here } }
  tools: { files: { server: disk, tools: ['*'], effect: read_only, redaction: whole } }
policy: { allowed_tools: [files, now] }
`,
    );
    const lenient = await command(['check', config], { SLUICE_DATA: folder });
    expect([lenient.code, lenient.output]).toEqual([
      0,
      expect.stringMatching(
        /1 tools, 1 allowed, a list of MCP tools without any, .*\nmissing_tools mcp\.servers\.disk:/s,
      ),
    ]);
    expect((await command(['check', '--strict', config], { SLUICE_DATA: folder })).code).toBe(1);
  });

  it('a lookup over HTTP: an unknown caller is an answer, a refusal and silence are none', async () => {
    let status = 404;
    const server = createServer((_, response) => void response.writeHead(status).end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const lookup = `{ lookup: { url: "http://127.0.0.1:${(server.address() as AddressInfo).port}/of" } }`;
    expect(await check(lookup)).toMatchObject({ codes: [0, 0] });
    status = 500;
    const refused = await check(lookup);
    expect([refused.codes, refused.output]).toEqual([[0, 1], expect.stringContaining('it answered with 500')]);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    const gone = await check(lookup);
    expect([gone.codes, gone.output]).toEqual([[0, 1], expect.stringContaining('it cannot be reached (ECONNREFUSED)')]);
  });

  it(
    'a table of users: says that there is none, and what to set where no database is named',
    async () => {
      const { databaseUrl } = await infra('postgres');
      const database = await freshDatabase(databaseUrl);
      try {
        const table = '{ users: { table: nowhere } }';
        const missing = await check(table, { DATABASE_URL: database.url });
        expect([missing.codes, missing.output]).toEqual([[0, 1], expect.stringContaining('"nowhere" does not exist')]);
        const unset = await check(table);
        expect([unset.codes, unset.output]).toEqual([[0, 1], expect.stringContaining('DATABASE_URL is not set')]);
      } finally {
        await database.drop();
      }
    },
    startTimeout,
  );

  it('lists with a lookup: says which cannot be read, and asks for none that is of a caller', async () => {
    let text = '["ann@example.org"]';
    const server = createServer((_, response) => void response.end(text));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const lists = `
web: { private_hosts: ["${host}"] }
lists: { mails: { lookup: { url: "http://${host}/mails" } }, own: { lookup: { url: "http://${host}/{user}", items: x } } }`;
    expect(await check('', {}, lists)).toMatchObject({ codes: [0, 0] });
    text = '{}x';
    const broken = await check('', {}, lists);
    expect([broken.codes, broken.output]).toEqual([
      [0, 1],
      expect.stringContaining('! lists.mails.lookup: its answer is no JSON'),
    ]);
    expect(broken.output).not.toContain('lists.own');
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('OpenFGA: a denial is an answer, an unknown store and silence are none', async () => {
    const server = await serveOpenFga('known', []);
    const store = (name: string) => `authorization: { openfga: { url: "${server.url}", store: ${name} } }`;
    expect(await check('', {}, store('known'))).toMatchObject({ codes: [0, 0] });
    const unknown = await check('', {}, store('unknown'));
    expect([unknown.codes, unknown.output]).toEqual([[0, 1], expect.stringContaining('it answered with 404')]);
    await server.close();
    const gone = await check('', {}, store('known'));
    expect([gone.codes, gone.output]).toEqual([[0, 1], expect.stringContaining('cannot be reached')]);
  });
});

describe('sluice check, where a model needs a key', () => {
  it('says which variable is not set, asks no model, and takes the file of SLUICE_CONFIG', async () => {
    const config = join(folder, 'keyed.yaml');
    const model = 'model: { provider: anthropic, name: m, api_key_env: A_KEY_OF_A_TEST }';
    writeFileSync(config, workflowConfiguration({ limits: model, allowed: 'text-completion' }));
    const given = { SLUICE_DATA: folder, SLUICE_CONFIG: config };
    const lenient = await command(['check'], given);
    expect([lenient.code, lenient.output]).toEqual([
      0,
      expect.stringMatching(/^✓ .*keyed\.yaml[^]*! model anthropic\/m: .*set the environment variable A_KEY_OF_A_TEST/),
    ]);
    expect((await command(['check', '--strict'], given)).code).toBe(1);
    const set = await command(['check', '--strict'], { ...given, A_KEY_OF_A_TEST: 'a-key' });
    expect([set.code, set.output]).toEqual([0, expect.not.stringContaining('! model')]);
  });
});

describe('sluice check --model asks each model once', () => {
  async function checkAnswer(
    status: number,
    body: string,
  ): Promise<{ code: number; output: string; requests: number }> {
    let requests = 0;
    const server = createServer((_, response) => {
      requests++;
      response
        .writeHead(status, { 'content-type': status === 200 ? 'text/event-stream' : 'application/json' })
        .end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const found = await checkAt(port);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    return { ...found, requests };
  }

  async function checkAt(port: number) {
    const config = join(folder, 'model.yaml');
    const model = `model: { provider: openai-compatible, name: m, base_url: "http://127.0.0.1:${port}/v1" }`;
    writeFileSync(config, workflowConfiguration({ limits: model, allowed: 'text-completion' }));
    return command(['check', '--model', config], { SLUICE_DATA: folder });
  }

  it('and says that it answered, or plainly what is wrong', async () => {
    const chunk = (delta: object, finish: string | null): string =>
      `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 0, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
    const whole = `${chunk({ role: 'assistant', content: 'ok' }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`;
    const fine = await checkAnswer(200, whole);
    expect([fine.code, fine.requests, fine.output]).toEqual([0, 1, expect.stringContaining('it answered in')]);
    const problems: readonly (readonly [number, string, RegExp])[] = [
      [401, '{"error":{"message":"Incorrect API key","code":"invalid_api_key"}}', /did not accept the key/],
      [404, '{"error":{"message":"no model m"}}', /was not found .*check model\.name and model\.base_url/],
      [503, '{}', /failed on its own side/],
    ];
    for (const [status, body, said] of problems) {
      const { code, output, requests } = await checkAnswer(status, body);
      expect([status, code, requests, output]).toEqual([status, 1, 1, expect.stringMatching(said)]);
    }
    const gone = await checkAt(1);
    expect([gone.code, gone.output]).toEqual([
      1,
      expect.stringMatching(/could not be reached \(ECONNREFUSED\): check model\.base_url/),
    ]);
  });
});
