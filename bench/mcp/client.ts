import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/** A client of the protocol of 2026-07-28, which has no sessions. */
export function connected(url: string): Promise<Client> {
  return opened(url, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
}

/** A client of the protocol before it: it begins a session, if the server has any. */
export function connectedInSession(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Client> {
  return opened(url, {}, headers);
}

async function opened(
  url: string,
  options: ConstructorParameters<typeof Client>[1],
  headers: Readonly<Record<string, string>> = {},
): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' }, options);
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  return client;
}

export async function call(client: Client, tool: string): Promise<void> {
  const { isError, content } = await client.callTool({ name: tool, arguments: {} });
  if (isError === true) throw new Error(`The call of ${tool} failed: ${JSON.stringify(content)}`);
}

/** Milliseconds of each of so many calls, one after another. */
export async function oneByOne(client: Client, tool: string, calls: number): Promise<readonly number[]> {
  const each: number[] = [];
  for (let n = 0; n < calls; n++) each.push(await timeOf(() => call(client, tool)));
  return each;
}

/** Calls a second, so many in flight, divided among the clients. */
export async function together(
  clients: readonly Client[],
  tool: string,
  { calls, inFlight }: { readonly calls: number; readonly inFlight: number },
): Promise<number> {
  let begun = 0;
  const caller = async (_: unknown, at: number): Promise<void> => {
    const client = clients[at % clients.length] as Client;
    while (begun++ < calls) await call(client, tool);
  };
  const ms = await timeOf(() => Promise.all(Array.from({ length: inFlight }, caller)));
  return calls / (ms / 1_000);
}

export async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
