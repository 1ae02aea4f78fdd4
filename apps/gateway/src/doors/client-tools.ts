import { canonicalJson, clientToolId, clientToolsIn, evaluatorFor } from '@sluice/core';
import type { ClientTool, Evaluator } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import { clientToolLimits, clientToolsProblem } from '@sluice/run';
import { convertOffer } from '@sluice/schemas';
import type { DecodedRequest, WireTool } from '@sluice/wires';
import { Refusal } from '../refusal.js';
import { saidBy } from './brought-results.js';

/** Lists of tools whose converted form is kept: clients send the same list with each request. */
const listsKept = 64;
const converted = new Map<string, readonly ClientTool[]>();

/**
 * The tools that the client runs itself, as the record of its request has them; null where it brings none. Throws
 * Refusal(400).
 */
export function clientToolsOf(decoded: DecodedRequest, agent: string, evaluator: Evaluator): string | null {
  const foreign = decoded.beyond.find((path) => /^tools\[\d+\]$/.test(path));
  if (foreign !== undefined)
    throw refused(`${foreign} is no function. Tools that a provider runs are not here: the agent has those of its configuration.`); // prettier-ignore
  const { tools } = decoded;
  if (tools.length === 0) return null;
  if (tools.length > clientToolLimits.tools)
    throw refused(`There are ${tools.length} tools and the limit is ${clientToolLimits.tools}. Send fewer.`);
  const text = JSON.stringify({ said: saidBy(decoded, decoded.messages), tools: inForm(tools) });
  const { configuration } = evaluator;
  const choice = { agent, call: null, clientTools: text };
  const problem = clientToolsProblem(choice, configuration);
  if (problem !== null) throw refused(problem);
  const own = evaluatorFor(evaluator, choice);
  const closed = tools.find(({ name }) => {
    const tool = own.byId(clientToolId(name));
    return tool === undefined || own.policy.decide(tool) === 'deny';
  });
  if (closed !== undefined)
    throw refused(`Calls of ${closed.name} need an approval that no one may give. Name approvers in \`policy.approval\`, or leave the tool out.`); // prettier-ignore
  return text;
}

/** With schemas that models and providers take. */
function inForm(tools: readonly WireTool[]): readonly ClientTool[] {
  const key = sha256(JSON.stringify(tools));
  const known = converted.get(key);
  if (known !== undefined) return known;
  let bytes = 0;
  const all = tools.map(({ name, description, inputSchema }) => {
    const offer = convertOffer({ name, description, inputSchema, outputSchema: null });
    if ('problems' in offer)
      throw refused(`The tool ${name.slice(0, 100)} cannot be offered. ${offer.problems.join(' ')}`);
    const { inputSchema: schema } = offer;
    const text = canonicalJson(schema);
    bytes += text.length;
    // Schemas grow where references stand in them, and each takes its time: no more are read than a record holds.
    if (bytes > clientToolLimits.bytes)
      throw refused(`The schemas of the tools have more than ${clientToolLimits.bytes} bytes with their references in place, which is the limit. Send fewer tools, or shorter schemas.`); // prettier-ignore
    return { name, description, schema, hash: sha256(text) };
  });
  const [oldest] = converted.keys();
  if (converted.size >= listsKept && oldest !== undefined) converted.delete(oldest);
  converted.set(key, all);
  return all;
}

/** The tool that a request wants called, by the name that models are shown. */
export function chosenTool(name: string, clientTools: string | null): string {
  const { tools = [] } = clientToolsIn(clientTools ?? '') ?? {};
  return tools.some((tool) => tool.name === name) ? clientToolId(name) : name;
}

function refused(message: string): Refusal {
  return new Refusal(400, 'invalid_request', message, {}, { param: 'tools', wire_code: 'unsupported_parameter' });
}
