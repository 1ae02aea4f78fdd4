import { isServerTool, matchesPattern, openApiToolType, quote, wildcard } from '@sluice/core';
import type { Finding, McpOffer, Problem } from '@sluice/core';
import type { Pins } from './specifications.js';

type Values = Readonly<Record<string, unknown>>;

interface Given {
  readonly offers: readonly McpOffer[];
  readonly pins?: Pins;
}

/** Sections with servers and with entries for their tools. */
const sections = ['mcp', 'openapi'] as const;
type ServerSection = (typeof sections)[number];

/** An entry of `mcp.tools` or `openapi.tools` that brings in many tools of its server. */
interface Many {
  readonly section: ServerSection;
  readonly id: string;
  readonly server: string;
  /** Names, and patterns in which `*` stands for any characters. */
  readonly tools: readonly string[];
  readonly binding: Values;
}

/** What an entry brings in. */
interface Found {
  readonly names: readonly string[];
  /** Those of them that no list names: the server, or a text elsewhere in the file. */
  readonly brought: readonly string[];
  readonly hasPatterns: boolean;
}

/**
 * The file written out, and the keys of the tools that are in it because a server offers them: what is wrong with one
 * hides it alone.
 */
interface WrittenOut {
  readonly file: unknown;
  readonly brought: ReadonlySet<string>;
  /** Groups that patterns bring tools into: they are known also while it is unknown which tools these are. */
  readonly groups: readonly string[];
}

/**
 * The file with each entry of `mcp.tools` and `openapi.tools` that has a list `tools` written out: an entry a tool,
 * `<id>/<tool>`, and likewise the entries of `tool` that use it and the names in `policy.allowed_tools`. What comes
 * after sees single tools alone, so each is allowed, pinned and named like any other. Patterns match what the server
 * offers; with pins, only tools that were allowed before, so that a tool that a server adds later comes in when an
 * operator compiles. A tool that the file names elsewhere as `<entry>/<tool>` is one of the entry too, so that it is
 * hidden and no unknown name where its server is away or has it no longer. What is not of the right shape stays as it
 * is, for its reader to refuse.
 */
export function writeOutManyTools(raw: unknown, given: Given, problems: Problem[], findings: Finding[]): WrittenOut {
  const all = manyIn(raw);
  if (all.length === 0) return { file: raw, brought: new Set(), groups: [] };
  const file = mapOf(raw);
  const named = namedIn(raw);
  const names = new Map(
    all.map((many) => [placeOf(many), namesOf(many, { ...given, named, others: all, raw }, findings)]),
  );
  const brought = new Set<string>();
  const keys = new Map<string, Found>();
  const groups = new Set<string>();
  const writeOut = (key: string, entry: unknown): [string, unknown][] => {
    const bound = boundTo(key, entry);
    const found = bound === null ? undefined : names.get(placeOf(bound));
    if (bound === null || found === undefined) return [[key, entry]];
    for (const text of ['description', ...(Array.isArray(file['tool']) ? [] : ['name'])])
      if (mapOf(entry)[text] !== undefined)
        problems.push({
          path: `tool.${key}.${text}`,
          found: 'one text for many tools',
          write: 'nothing: each has that of its server',
        });
    const written = found.names.map((tool) => `${key}/${tool}`);
    keys.set(key, { ...found, names: written });
    const { group } = mapOf(entry);
    if (found.hasPatterns && Array.isArray(group))
      for (const name of group) if (typeof name === 'string' && name !== wildcard) groups.add(name);
    for (const one of found.brought) brought.add(`${key}/${one}`);
    return found.names.map((tool) => [
      `${key}/${tool}`,
      {
        ...mapOf(entry),
        name: `${key}/${tool}`,
        ...(bound.section === 'mcp' ? { mcp_tool_id: `${bound.id}/${tool}` } : {}),
      },
    ]);
  };
  const { tool } = file;
  const tools = Array.isArray(tool)
    ? tool.flatMap((entry: unknown) => writeOut(String(mapOf(entry)['name'] ?? ''), entry).map(([, one]) => one))
    : isMap(tool)
      ? Object.fromEntries(Object.entries(tool).flatMap(([key, entry]) => writeOut(key, entry)))
      : tool;
  const written = sections.map((section) => {
    const own = mapOf(file[section]);
    const bindings = Object.entries(mapOf(own['tools'])).flatMap(([id, entry]): [string, unknown][] => {
      const many = all.find((one) => one.section === section && one.id === id);
      return many === undefined
        ? [[id, entry]]
        : (names.get(placeOf(many))?.names ?? []).map((one) => [`${id}/${one}`, { ...many.binding, tool: one }]);
    });
    return all.some((many) => many.section === section)
      ? { [section]: { ...own, tools: Object.fromEntries(bindings) } }
      : {};
  });
  const whole = { ...file, tool: tools, ...written[0], ...written[1], ...policyOf(file, keys) };
  return { file: whole, brought, groups: [...groups] };
}

/** The servers that must be asked before it is known which tools there are: those of entries with patterns. */
export function serversOfPatterns(raw: unknown): readonly string[] {
  return manyIn(raw)
    .filter(({ tools }) => tools.some(isPattern))
    .map(({ server }) => server);
}

function manyIn(raw: unknown): readonly Many[] {
  return sections.flatMap((section) => manyOf(raw, section));
}

/** What tells entries of both sections apart. */
function placeOf({ section, id }: Pick<Many, 'section' | 'id'>): string {
  return `${section}.tools.${id}`;
}

function manyOf(raw: unknown, section: ServerSection): readonly Many[] {
  return bindingsIn(raw, section).flatMap(([id, entry]) => {
    const { tools, ...binding } = mapOf(entry);
    const { server, tool } = binding;
    const isRight =
      Array.isArray(tools) && tools.length > 0 && tools.every((one) => typeof one === 'string' && one !== '');
    return isRight && typeof server === 'string' && tool === undefined
      ? [{ section, id, server, tools: tools as string[], binding }]
      : [];
  });
}

/** What else the file says that bears on an entry. */
interface Around extends Given {
  readonly raw: unknown;
  readonly others: readonly Many[];
  /** Every text of the file, also keys of maps. */
  readonly named: ReadonlySet<string>;
}

function namesOf(many: Many, around: Around, findings: Finding[]): Found {
  const { section, server, tools } = many;
  const { offers, pins } = around;
  const offer = offers.find((one) => one.server === server);
  // What has no name cannot be an entry; a finding about the server counts it.
  const offered =
    offer === undefined || 'error' in offer ? null : offer.tools.flatMap(({ name }) => (name === '' ? [] : [name]));
  const pinned = pinnedOf(server, pins);
  const known = pinned.length > 0 ? pinned : (offered ?? []);
  const written = tools.filter((one) => !isPattern(one));
  const patterns = tools.filter(isPattern);
  const elsewhere = namedElsewhere(many, around);
  const free = known.filter((name) => !written.includes(name) && !elsewhere.has(name));
  const brought = new Set(free.filter((name) => patterns.some((pattern) => matchesPattern(pattern, name))));
  for (const name of referredTo(many, around))
    if (!written.includes(name) && patterns.some((pattern) => matchesPattern(pattern, name))) brought.add(name);
  // A tool of the file’s own has that key.
  const own = new Set(entriesIn(around.raw).map(([key]) => key));
  const prefixes = prefixesOf(many, around.raw);
  for (const name of brought) if (prefixes.some((prefix) => own.has(`${prefix}${name}`))) brought.delete(name);
  tools.forEach((pattern, place) => {
    if (!isPattern(pattern) || offered === null || pinned.length > 0) return;
    if (offered.some((name) => matchesPattern(pattern, name))) return;
    const what = section === 'mcp' ? `sluice mcp list ${server}` : `sluice openapi list ${server}`;
    const message = `No tool of the server ${quote(server)} has the pattern ${quote(pattern)}; \`${what}\` shows what it offers.`;
    findings.push({ kind: 'missing_tools', path: `${placeOf(many)}.tools[${String(place)}]`, message });
  });
  return {
    names: [...new Set([...written, ...brought])].sort(),
    brought: [...brought],
    hasPatterns: patterns.length > 0,
  };
}

/** Tools of the server that other entries name: what a person wrote goes before what a pattern matches. */
function namedElsewhere(many: Many, { raw, others }: Around): ReadonlySet<string> {
  const { section, server } = many;
  const entries = bindingsIn(raw, section).map(([, entry]) => mapOf(entry));
  const single = entries.flatMap(({ server: of, tool }) => (of === server && typeof tool === 'string' ? [tool] : []));
  const listed = others.flatMap((other) =>
    other.server === server && placeOf(other) !== placeOf(many) ? other.tools.filter((one) => !isPattern(one)) : [],
  );
  return new Set([...single, ...listed]);
}

/** The entries of `tool`, by key. */
function entriesIn(raw: unknown): readonly (readonly [string, unknown])[] {
  const { tool } = mapOf(raw);
  return Array.isArray(tool)
    ? tool.map((entry: unknown) => [String(mapOf(entry)['name'] ?? ''), entry] as const)
    : Object.entries(mapOf(tool));
}

/** What the keys of the entry’s tools begin with: `<key>/` of each entry of `tool` that uses it. */
function prefixesOf(many: Many, raw: unknown): readonly string[] {
  return entriesIn(raw).flatMap(([key, entry]) => {
    const bound = boundTo(key, entry);
    return bound !== null && placeOf(bound) === placeOf(many) ? [`${key}/`] : [];
  });
}

/** Tools that the file names as those of an entry, such as `files/read_file` in a rule. */
function referredTo(many: Many, { raw, named }: Around): readonly string[] {
  const keys = prefixesOf(many, raw);
  return [...named].flatMap((text) =>
    isPattern(text)
      ? []
      : keys.flatMap((key) => (text.startsWith(key) && text !== key ? [text.slice(key.length)] : [])),
  );
}

/** A YAML alias may make a file that has no end. */
const mostTexts = 100_000;

function namedIn(raw: unknown): ReadonlySet<string> {
  const texts = new Set<string>();
  const seen = new Set<unknown>();
  const waiting: unknown[] = [raw];
  while (waiting.length > 0 && seen.size < mostTexts) {
    const value = waiting.pop();
    if (typeof value === 'string') texts.add(value);
    if (value === null || typeof value !== 'object' || seen.has(value)) continue;
    seen.add(value);
    for (const [key, item] of Object.entries(value)) {
      texts.add(key);
      waiting.push(item);
    }
  }
  return texts;
}

function pinnedOf(server: string, pins: Pins | undefined): readonly string[] {
  return [...(pins?.keys() ?? [])].flatMap((place) => {
    const [of, tool] = JSON.parse(place) as [string, string];
    return of === server ? [tool] : [];
  });
}

/** The entry under `mcp.tools` or `openapi.tools` that one of `tool` uses; null for what no server runs. */
function boundTo(key: string, entry: unknown): Pick<Many, 'section' | 'id'> | null {
  const { type, mcp_tool_id: id } = mapOf(entry);
  if (typeof type !== 'string' || !isServerTool(type)) return null;
  if (type === openApiToolType) return { section: 'openapi', id: key };
  return { section: 'mcp', id: typeof id === 'string' ? id : key };
}

function bindingsIn(raw: unknown, section: ServerSection): readonly (readonly [string, unknown])[] {
  return Object.entries(mapOf(mapOf(mapOf(raw)[section])['tools']));
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
    const mayCome = [...keys].some(([key, { hasPatterns }]) => hasPatterns && item.startsWith(`${key}/`));
    return matching.length > 0 || (isPattern(item) && mayCome) ? matching : [item];
  });
  return { policy: { ...policy, allowed_tools: [...new Set<unknown>(names)] } };
}

function isPattern(text: string): boolean {
  return text.includes(wildcard);
}

function mapOf(value: unknown): Values {
  return isMap(value) ? value : {};
}

function isMap(value: unknown): value is Values {
  return Object.prototype.toString.call(value) === '[object Object]';
}
