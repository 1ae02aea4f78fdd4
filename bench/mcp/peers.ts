import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startProgram } from '../discovery/child.js';
import type { Child } from '../discovery/child.js';

/** Another relay in front of the same upstream server. */
export interface Peer {
  readonly name: string;
  readonly child: Child;
  /** Where MCP clients connect. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface Kind {
  readonly name: string;
  /** The variable that may name its program, and the program where it does not. */
  readonly variable: string;
  readonly program: string;
  readonly version: readonly string[];
  start(program: string, upstream: string, folder: string): Promise<Omit<Peer, 'name'>>;
}

const waitMs = 120_000;
/** LiteLLM’s list of prices is in its package; without this it asks for a newer one. */
const localPrices = { LITELLM_LOCAL_MODEL_COST_MAP: 'True' };
const secret = (): string => randomBytes(32).toString('hex');

const fastmcpProgram = `
import sys
from fastmcp.server import create_proxy
from starlette.responses import PlainTextResponse
proxy = create_proxy(sys.argv[1], name='proxy')
@proxy.custom_route('/health', methods=['GET'])
async def health(request):
    return PlainTextResponse('ok')
proxy.run(transport='http', host='127.0.0.1', port=int(sys.argv[2]), path='/mcp', log_level='error', show_banner=False)
`;

/** The proxy of fastmcp, by the Python that has it. */
async function startFastmcp(python: string, upstream: string): Promise<Omit<Peer, 'name'>> {
  const args = (port: number): readonly string[] => ['-c', fastmcpProgram, upstream, String(port)];
  const child = await startProgram(python, args, { env: {}, ready: '/health', waitMs });
  return { child, url: `${child.url}/mcp`, headers: {} };
}

async function startLitellm(litellm: string, upstream: string, folder: string): Promise<Omit<Peer, 'name'>> {
  const file = join(folder, 'config.yaml');
  await writeFile(
    file,
    JSON.stringify({ mcp_servers: { up: { url: upstream, transport: 'http', allow_all_keys: true } } }),
  );
  const key = `sk-${secret()}`;
  const args = (port: number): readonly string[] => ['--config', file, '--host', '127.0.0.1', '--port', String(port)];
  const env = {
    ...{ ...localPrices, LITELLM_MASTER_KEY: key, LITELLM_LOG: 'ERROR', DATABASE_URL: undefined },
  };
  const child = await startProgram(litellm, args, { env, ready: '/health/liveliness', waitMs });
  return { child, url: `${child.url}/mcp/`, headers: { 'x-litellm-api-key': `Bearer ${key}` } };
}

/** ContextForge with SQLite, and a virtual server of the upstream’s tools. */
async function startContextForge(mcpgateway: string, upstream: string, folder: string): Promise<Omit<Peer, 'name'>> {
  const args = (port: number): readonly string[] => ['--host', '127.0.0.1', '--port', String(port)];
  const secrets = ['JWT_SECRET_KEY', 'AUTH_ENCRYPTION_SECRET', 'PLATFORM_ADMIN_PASSWORD', 'DEFAULT_USER_PASSWORD'];
  const env = {
    ...{ DATABASE_URL: `sqlite:///${join(folder, 'mcp.db')}`, LOG_LEVEL: 'ERROR' },
    ...{ AUTH_REQUIRED: 'false', ALLOW_UNAUTHENTICATED_ADMIN: 'true', RATE_LIMITING_ENABLED: 'false' },
    ...{ SSRF_ALLOW_LOCALHOST: 'true', SSRF_ALLOW_PRIVATE_NETWORKS: 'true' },
    ...Object.fromEntries([...secrets, 'BASIC_AUTH_PASSWORD'].map((name) => [name, `Aa1!${secret()}`])),
  };
  const child = await startProgram(mcpgateway, args, { env, ready: '/health', waitMs });
  try {
    const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(`${child.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      if (!response.ok)
        throw new Error(`POST ${path} was answered ${String(response.status)}: ${await response.text()}`);
      return (await response.json()) as Record<string, unknown>;
    };
    await post('/gateways', { name: 'up', url: upstream, transport: 'STREAMABLEHTTP' });
    const tools = (await (await fetch(`${child.url}/tools`)).json()) as readonly { readonly id: string }[];
    const { id } = await post('/servers', { server: { name: 'up', associated_tools: tools.map((tool) => tool.id) } });
    return { child, url: `${child.url}/servers/${String(id)}/mcp`, headers: {} };
  } catch (error) {
    await child.close();
    throw error;
  }
}

const kinds: readonly Kind[] = [
  {
    ...{ name: 'fastmcp’s proxy', variable: 'BENCH_FASTMCP_PYTHON', program: 'python3' },
    ...{ version: ['-c', 'import fastmcp; print(fastmcp.__version__)'], start: startFastmcp },
  },
  {
    ...{ name: 'LiteLLM', variable: 'BENCH_LITELLM', program: 'litellm' },
    ...{ version: ['--version'], start: startLitellm },
  },
  {
    ...{ name: 'ContextForge', variable: 'BENCH_CONTEXTFORGE', program: 'mcpgateway' },
    ...{ version: ['--version'], start: startContextForge },
  },
];

/** Those that are installed and start; a line for each says which it is, or why it is not measured. */
export async function startPeers(upstream: string): Promise<readonly Peer[]> {
  const peers: Peer[] = [];
  for (const { name, variable, program: usual, version, start } of kinds) {
    const program = process.env[variable] ?? usual;
    const env = { ...process.env, ...localPrices };
    const found = await promisify(execFile)(program, version, { env }).then(
      ({ stdout }) => /\d+\.\d+\.\d+\S*/.exec(stdout)?.[0] ?? stdout.trim(),
      () => null,
    );
    if (found === null) {
      console.log(`${name} is not measured: ${program} does not have it. ${variable} may name another program.`);
      continue;
    }
    const folder = await mkdtemp(join(tmpdir(), 'peer-bench-'));
    const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
    try {
      const peer = await start(program, upstream, folder);
      const close = async (): Promise<void> => {
        await peer.child.close();
        await remove();
      };
      peers.push({ ...peer, name, child: { ...peer.child, close } });
      console.log(`Beside ${name}: ${found}`);
    } catch (error) {
      console.log(`${name} is not measured: it did not start. ${(error as Error).message}`);
      await remove();
    }
  }
  return peers;
}
