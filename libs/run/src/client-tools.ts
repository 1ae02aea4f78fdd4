import {
  agentName,
  canonicalJson,
  clientToolsIn,
  isClientTool,
  isConfiguredName,
  quote,
  takesClientTool,
  utf8Length,
} from '@sluice/core';
import type { ClientTool, Configuration } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import type { AgentRequest, RequestedCall } from '@sluice/contracts';
import { convertOffer } from '@sluice/schemas';

/** What a request has room for of its client’s tools: each record of the run carries them. */
export const clientToolLimits = { tools: 128, bytes: 131_072, name: 56 } as const;

const nameForm = /^[\w-]{1,56}$/;

/** Why the agent does not take these tools of a client, as a sentence that says what to do; null if it does. */
function clientToolsRefused(
  tools: readonly Pick<ClientTool, 'name'>[],
  agent: string,
  configuration: Pick<Configuration, 'agents' | 'tools'>,
): string | null {
  const { agents = {} } = configuration;
  const taken = Object.hasOwn(agents, agent) ? agents[agent]?.clientTools : undefined;
  if (tools.length > clientToolLimits.tools)
    return `There are ${tools.length} tools of the client and the limit is ${clientToolLimits.tools}. Send fewer.`;
  const odd = tools.find(({ name }) => !nameForm.test(name));
  if (odd !== undefined)
    return `A tool of the client has the name ${quote(odd.name.slice(0, 100))}. Write 1 to ${clientToolLimits.name} letters, digits, \`_\` and \`-\`.`;
  const names = tools.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) return `Two tools of the client have the name ${quote(twice)}. Rename one of them.`;
  const own = names.find((name) => isConfiguredName(name, configuration));
  if (own !== undefined) return `A tool of the configuration has the place of the client’s tool ${quote(own)}. Rename yours.`; // prettier-ignore
  const refused = names.find((name) => !takesClientTool(taken, name));
  if (refused === undefined) return null;
  return `The agent ${quote(agent)} takes no tool of the client with the name ${quote(refused)}. Write the name, or a pattern for it, under \`agents.${agent}.client_tools\` in the configuration, or leave the tool out.`;
}

/** What is wrong with the tools that a request’s client brings, as a sentence; null if nothing is. */
export function clientToolsProblem(
  request: Pick<AgentRequest, 'clientTools' | 'agent' | 'call'>,
  configuration: Pick<Configuration, 'agents' | 'tools'>,
): string | null {
  const { clientTools } = request;
  if (clientTools === null) return null;
  const bytes = utf8Length(clientTools);
  if (bytes > clientToolLimits.bytes)
    return `The tools of the client have ${bytes} bytes and the limit is ${clientToolLimits.bytes}. Send fewer, or shorter descriptions.`;
  const brought = clientToolsIn(clientTools);
  if (brought === null) return 'client_tools is no text that a door wrote. Send tools through a door.';
  if (request.call !== null) return 'A request that makes a call itself brings no tools. Leave client_tools out.';
  const forged = brought.tools.find(({ schema, hash }) => sha256(canonicalJson(schema)) !== hash);
  if (forged !== undefined)
    return `The tool ${quote(forged.name.slice(0, 100))} has another schema than its hash says.`;
  return clientToolsRefused(brought.tools, agentName(request), configuration);
}

/** The calls of a turn, those of the client’s tools last: all others run before the run waits for its client. */
export function clientsLast<Call extends Pick<RequestedCall, 'tool'>>(calls: readonly Call[]): readonly Call[] {
  const isOwn = ({ tool }: Call): boolean => !isClientTool(tool);
  return [...calls.filter(isOwn), ...calls.filter((call) => !isOwn(call))];
}

/** What is wrong with the schemas of a client’s tools that no door brought into form; null if nothing is. */
export function clientSchemasProblem({ clientTools }: Pick<AgentRequest, 'clientTools'>): string | null {
  if (clientTools === null) return null;
  let bytes = 0;
  for (const { name, description, schema } of clientToolsIn(clientTools)?.tools ?? []) {
    const offer = convertOffer({ name, description, inputSchema: schema, outputSchema: null });
    if ('problems' in offer) return `The client’s tool ${quote(name)} cannot be offered. ${offer.problems.join(' ')}`;
    bytes += JSON.stringify(offer.inputSchema).length;
    // What a door wrote has no references that grow.
    if (bytes > clientToolLimits.bytes) return 'The schemas of the client’s tools are too large with their references.';
  }
  return null;
}
