import { wildcard } from '../rules/defaults.js';
import type { McpOffer } from './offer.js';
import { quote } from './problems.js';
import type { Pins } from './specifications.js';
import type { Problem } from './types.js';

type Values = Readonly<Record<string, unknown>>;

interface Given {
  readonly offers: readonly McpOffer[];
  readonly pins?: Pins;
}

/** An entry of `mcp.tools` that brings in many tools of its server. */
interface Many {
  readonly id: string;
  readonly server: string;
  /** Names, and patterns in which `*` stands for any characters. */
  readonly tools: readonly string[];
  readonly binding: Values;
}

/** What an entry brings in; `isOpen` if there may be more that its patterns match, which is unknown or may not be taken now. */
interface Found {
  readonly names: readonly string[];
  readonly isOpen: boolean;
}

/**
 * The file with each entry of `mcp.tools` that has a list `tools` written out: an entry a tool, `<id>/<tool>`, and likewise the entries
 * of `tool` that use it and the names in `policy.allowed_tools`. What comes after sees single tools alone, so each is allowed, pinned and
 * named like any other. Patterns match what the server offers; with pins, only tools that were allowed before, so that a tool that a
 * server adds later comes in when an operator compiles. What is not of the right shape stays as it is, for its reader to refuse.
 */
export function writeOutManyTools(raw: unknown, given: Given, problems: Problem[]): unknown {
  const all = manyIn(raw);
  if (all.length === 0) return raw;
  const file = mapOf(raw);
  const names = new Map(all.map((many) => [many.id, namesOf(many, given, problems)]));
  const keys = new Map<string, Found>();
  const writeOut = (key: string, entry: unknown): [string, unknown][] => {
    const id = boundTo(key, entry);
    const found = id === null ? undefined : names.get(id);
    if (id === null || found === undefined) return [[key, entry]];
    for (const text of ['description', ...(Array.isArray(file['tool']) ? [] : ['name'])])
      if (mapOf(entry)[text] !== undefined)
        problems.push({
          path: `tool.${key}.${text}`,
          found: 'one text for many tools',
          write: 'nothing: each has that of its server',
        });
    const written = found.names.map((tool) => `${key}/${tool}`);
    keys.set(key, { names: written, isOpen: found.isOpen });
    return found.names.map((tool) => [
      `${key}/${tool}`,
      { ...mapOf(entry), name: `${key}/${tool}`, mcp_tool_id: `${id}/${tool}` },
    ]);
  };
  const { tool } = file;
  const tools = Array.isArray(tool)
    ? tool.flatMap((entry: unknown) => writeOut(String(mapOf(entry)['name'] ?? ''), entry).map(([, one]) => one))
    : isMap(tool)
      ? Object.fromEntries(Object.entries(tool).flatMap(([key, entry]) => writeOut(key, entry)))
      : tool;
  const mcp = mapOf(file['mcp']);
  const bindings = Object.entries(mapOf(mcp['tools'])).flatMap(([id, entry]): [string, unknown][] => {
    const many = all.find((one) => one.id === id);
    return many === undefined
      ? [[id, entry]]
      : (names.get(id)?.names ?? []).map((one) => [`${id}/${one}`, { ...many.binding, tool: one }]);
  });
  return { ...file, tool: tools, mcp: { ...mcp, tools: Object.fromEntries(bindings) }, ...policyOf(file, keys) };
}

/** The servers that must be asked before it is known which tools there are: those of entries with patterns. */
export function serversOfPatterns(raw: unknown): readonly string[] {
  return manyIn(raw)
    .filter(({ tools }) => tools.some(isPattern))
    .map(({ server }) => server);
}

function manyIn(raw: unknown): readonly Many[] {
  return Object.entries(mapOf(mapOf(mapOf(raw)['mcp'])['tools'])).flatMap(([id, entry]) => {
    const { tools, ...binding } = mapOf(entry);
    const { server, tool } = binding;
    const isRight =
      Array.isArray(tools) && tools.length > 0 && tools.every((one) => typeof one === 'string' && one !== '');
    return isRight && typeof server === 'string' && tool === undefined
      ? [{ id, server, tools: tools as string[], binding }]
      : [];
  });
}

function namesOf({ id, server, tools }: Many, { offers, pins }: Given, problems: Problem[]): Found {
  const offer = offers.find((one) => one.server === server);
  const offered = offer === undefined || 'error' in offer ? null : offer.tools.map(({ name }) => name);
  const pinned = pinnedOf(server, pins);
  const known = pinned.length > 0 ? pinned : (offered ?? []);
  const found = tools.flatMap((pattern, place) => {
    if (!isPattern(pattern)) return [pattern];
    const matching = known.filter((name) => matchesPattern(pattern, name));
    if (matching.length === 0 && offered !== null && pinned.length === 0)
      problems.push({
        path: `mcp.tools.${id}.tools[${place}]`,
        found: `the pattern ${quote(pattern)}, which no tool of the server ${quote(server)} has`,
        write: 'a pattern or the name of a tool that `sluice mcp list` shows',
      });
    return matching;
  });
  const isOpen = tools.some(isPattern) && (offered === null || pins !== undefined);
  return { names: [...new Set(found)].sort(), isOpen };
}

function pinnedOf(server: string, pins: Pins | undefined): readonly string[] {
  return [...(pins?.keys() ?? [])].flatMap((place) => {
    const [of, tool] = JSON.parse(place) as [string, string];
    return of === server ? [tool] : [];
  });
}

/** The id under `mcp.tools` that an entry of `tool` uses; null for what is no mcp-tool. */
function boundTo(key: string, entry: unknown): string | null {
  const { type, mcp_tool_id: id } = mapOf(entry);
  if (type !== 'mcp-tool') return null;
  return typeof id === 'string' ? id : key;
}

/** The entry's own name allows all that its list brings in; a name with `*` those that match. */
function policyOf(file: Values, keys: ReadonlyMap<string, Found>): { readonly policy?: Values } {
  const policy = mapOf(file['policy']);
  const allowed = policy['allowed_tools'];
  if (!Array.isArray(allowed)) return {};
  const written = [...keys.values()].flatMap(({ names }) => names);
  const items: readonly unknown[] = allowed;
  const names = items.flatMap((item): readonly unknown[] => {
    if (typeof item !== 'string' || item === wildcard) return [item];
    const whole = keys.get(item);
    if (whole !== undefined) return whole.names;
    if (written.includes(item)) return [item];
    const matching = isPattern(item) ? written.filter((key) => matchesPattern(item, key)) : [];
    const mayCome = [...keys].some(([key, { isOpen }]) => isOpen && item.startsWith(`${key}/`));
    return matching.length > 0 || mayCome ? matching : [item];
  });
  return { policy: { ...policy, allowed_tools: [...new Set<unknown>(names)] } };
}

function isPattern(text: string): boolean {
  return text.includes(wildcard);
}

/** Whether the name has the pattern, in which `*` stands for any characters. */
export function matchesPattern(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split(wildcard);
  if (rest.length === 0) return name === first;
  const last = rest.pop() ?? '';
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found === -1 || found + part.length > name.length - last.length) return false;
    at = found + part.length;
  }
  return true;
}

function mapOf(value: unknown): Values {
  return isMap(value) ? value : {};
}

function isMap(value: unknown): value is Values {
  return Object.prototype.toString.call(value) === '[object Object]';
}
