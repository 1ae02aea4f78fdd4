import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { trialIssuer } from '@sluice/identity';
import { Sluice } from '../../../packages/client/src/index.js';
import { sluice } from '../../harness/program.js';
import type { Program } from '../../harness/program.js';
import { freePort } from '../../infra/ports.js';

/** Sluice with the configuration of one suite, as a process of its own on a folder of its own. */
export interface Running {
  /** A client of this tenant's user. */
  client(tenant: string): Promise<Sluice>;
  close(): Promise<void>;
}

type Section = Readonly<Record<string, unknown>>;

const issuer = 'https://issuer.example';
const user = 'emma';

/** What stands around each suite's own file: the world as an MCP server, who asks, the model. */
function around(own: Section, suite: string, world: string, model: string, keyFile: string): Section {
  const { tools = {}, ...mcp } = (own['mcp'] ?? {}) as { tools?: Readonly<Record<string, Section>> };
  const entries = Object.entries(tools).map(([key, entry]) => [key, { server: suite, redaction: 'whole', ...entry }]);
  return {
    ...own,
    mcp: {
      ...mcp,
      servers: { [suite]: { url: `${world}/mcp/${suite}`, connection: 'environment' } },
      tools: Object.fromEntries(entries),
    },
    connections: { environment: { adapter: 'http', url: `${world}/credentials`, tenants: ['*'] } },
    identity: {
      ...{ provider: 'jwt', issuer, key_file: keyFile },
      claims: { groups: 'groups', connections: 'connections' },
    },
    model: { provider: 'openai-compatible', name: 'scripted', base_url: model },
    // A file of the drive or a page of the web stands in one result.
    limits: {
      max_iterations: 80,
      result_bytes: 131_072,
      history_bytes: 480_000,
      argument_bytes: 65_536,
      run_seconds: 600,
    },
  };
}

export async function startSuite(file: string, suite: string, world: string, model: string): Promise<Running> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-agentdojo-'));
  const keys = await trialIssuer(null);
  const keyFile = join(folder, 'keys.json');
  writeFileSync(keyFile, keys.publicText);
  const configuration = join(folder, 'sluice.yaml');
  const own = parse(readFileSync(file, 'utf8')) as Section;
  writeFileSync(configuration, stringify(around(own, suite, world, model, keyFile)));
  const [port, httpPort] = [await freePort(), await freePort()];
  const program: Program = sluice(['start'], {
    SLUICE_CONFIG: configuration,
    SLUICE_DATA: join(folder, 'data'),
    SLUICE_PORT: String(port),
    SLUICE_HTTP_PORT: String(httpPort),
    SLUICE_PROXY_PORT: '0',
    SLUICE_MCP_PORT: '0',
    SLUICE_CONSOLE: 'off',
    SLUICE_LOG_LEVEL: 'warn',
  });
  const url = `http://127.0.0.1:${httpPort}`;
  await Promise.race([answers(`${url}/openapi.json`), endedEarly(program)]);
  return {
    client: async (tenant) => {
      const claims = { iss: issuer, aud: 'sluice', sub: user, tenant, groups: ['*'], connections: ['*'] };
      return new Sluice({ url, token: await keys.token(claims, Date.now() + 3_600_000) });
    },
    close: async () => {
      program.process.kill();
      await program.ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function endedEarly(program: Program): Promise<never> {
  const { code, output, errors } = await program.ended;
  throw new Error(`Sluice ended with ${String(code)}: ${output}${errors}`);
}

async function answers(url: string): Promise<void> {
  for (const until = Date.now() + 60_000; Date.now() < until;) {
    try {
      if ((await fetch(url)).ok) return;
    } catch {
      // Not there yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${url} did not answer within a minute.`);
}
