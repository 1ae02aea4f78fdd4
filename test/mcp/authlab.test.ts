import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import { workflowConfiguration } from '../harness/configurations.js';
import { startMcpSystem } from './with-mcp.js';
import type { McpSystem } from './with-mcp.js';

interface Check {
  readonly id: string;
  readonly status: 'pass' | 'fail' | 'warn' | 'skip' | 'error';
  readonly message: string;
}

/** Where the scanner is (`pip install mcp-authlab`); null where it is not. */
function scanner(): string | null {
  try {
    return execFileSync('which', ['mcp-authlab'], { encoding: 'utf8' }).trim();
  } catch {
    return null;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => void server.close(() => resolve()));
  return port;
}

/** Checks of the issuer’s own server, and of TLS, which stands in front of Sluice: neither is Sluice’s part. */
const ofOthers = /^(?:TLS|ASM|ASF)-/;

const program = scanner();
const whereInstalled = program === null ? describe.skip : describe;

whereInstalled('the scanner of authorization mcp-authlab', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-authlab-'));
  let system: McpSystem;
  let token: string;
  let foreign: string;

  beforeAll(async () => {
    const port = await freePort();
    const resource = `http://127.0.0.1:${port}/mcp`;
    const users = await newIssuer();
    const keyFile = join(folder, 'issuer.json');
    writeFileSync(keyFile, JSON.stringify(users.jwks));
    token = await users.token({ aud: resource, scope: 'read-only' });
    foreign = await users.token({ aud: 'https://other.example/mcp', scope: 'read-only' });
    const identity = `identity: { provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: "${resource}", claims: { groups: scope } }\n`;
    // The scanner takes a scope of the name admin for a right to everything; here it is a group of tools.
    const configuration = workflowConfiguration().replaceAll('"admin"', '"stewards"');
    system = await startMcpSystem(identity + configuration, { mcpPort: port });
  });
  afterAll(async () => {
    await system.close();
    rmSync(folder, { recursive: true });
  });

  it('finds nothing wrong with how tokens and sessions are taken', async () => {
    const report = join(folder, 'report.json');
    const args = ['scan', system.mcp.url, '--token', token, '--foreign-token', foreign, '--no-login'];
    await new Promise<void>((resolve) =>
      execFile(program ?? '', [...args, '--format', 'json', '--output', report], () => resolve()),
    );
    const { results } = JSON.parse(readFileSync(report, 'utf8')) as { results: readonly Check[] };
    const ours = results.filter(({ id }) => !ofOthers.test(id));
    expect(ours.filter(({ status }) => status !== 'pass' && status !== 'skip')).toEqual([]);
    expect(ours.filter(({ status }) => status === 'pass').length).toBeGreaterThanOrEqual(15);
  });
});
