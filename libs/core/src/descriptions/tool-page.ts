import type { ConfiguredTool } from '../settings/configured-tool.js';
import { type JsonObject, isJsonObject } from '../json.js';
import { argumentLines, literal } from './argument-list.js';
import { docsFolder } from './bind-tools.js';
import { exampleIn, sampleOf } from './example-call.js';
import { firstSentence } from './first-sentence.js';

/** The name of the page that lists the others. */
const indexPage = 'README.md';

/**
 * The packs that Sluice’s documents know, in their order; packs of MCP servers come behind them, and what has no pack
 * last.
 */
const packs = ['workspace', 'todo', 'document', 'search', 'citation', 'cache', 'graph', 'completion'];
const noPack = 'other';

/** Keys that are a file’s name on every system. */
const fileName = /^[A-Za-z0-9_-]{1,64}$/;

/** The name under which a tool is documented: its key, or its id where the key cannot be a file’s name. */
export function docsName({ key, id }: Pick<ConfiguredTool, 'key' | 'id'>): string {
  return fileName.test(key) && key.toLowerCase() !== 'readme' ? key : id;
}

/** Where a tool’s page stands in the workspace of a run. */
export function docsPath(tool: Pick<ConfiguredTool, 'key' | 'id'>): string {
  return `${docsFolder}/${docsName(tool)}.md`;
}

/**
 * All there is to know of a tool, as Markdown: category, purpose, arguments, result and an example, and what else
 * decides about a call. `name` is what the reader calls it by.
 */
export function toolPage(tool: ConfiguredTool, name = docsName(tool)): string {
  const { spec, category = noPack, title, key, mcp } = tool;
  const { text, example } = exampleIn(spec?.description ?? tool.description);
  const schema = spec?.inputSchema ?? {};
  const lines = argumentLines(schema);
  return [
    `# ${name}`,
    '',
    `**Category:** ${category}`,
    '',
    ...(title === key || title === name ? [] : [`**${title}**`, '']),
    ...paragraphs(text),
    '',
    ...(lines.length === 0 ? ['**Arguments:** none'] : ['**Arguments:**', ...lines]),
    '',
    `**Returns:** ${returns(tool, mcp?.outputSchema ?? null)}`,
    '',
    '**Example:**',
    '```',
    ...exampleLines(name, tool.examples?.[0] ?? example ?? sampleOf(schema)),
    '```',
    '',
    ...rules(tool),
    '',
  ].join('\n');
}

/** The pages’ index, by category. */
export function toolIndex(tools: readonly ConfiguredTool[]): string {
  const byPack = Map.groupBy(tools, ({ category = noPack }) => category);
  const place = (pack: string): number => {
    const at = packs.indexOf(pack);
    return at === -1 ? packs.length + (pack === noPack ? 1 : 0) : at;
  };
  const sections = [...byPack]
    .sort(([a], [b]) => place(a) - place(b) || (a < b ? -1 : 1))
    .flatMap(([pack, those]) => [
      '',
      `### ${headingOf(pack)} Tools`,
      ...those.map((tool) => `- **[${docsName(tool)}](${docsName(tool)}.md)** - ${summaryOf(tool)}`),
    ]);
  return ['# Available Tools', '', '## Quick Reference', ...sections, ''].join('\n');
}

/** The index and a page for each tool, by the names of their files. */
export function toolDocs(tools: readonly ConfiguredTool[]): ReadonlyMap<string, string> {
  return new Map([
    [indexPage, toolIndex(tools)],
    ...tools.map((tool): [string, string] => [`${docsName(tool)}.md`, toolPage(tool)]),
  ]);
}

function headingOf(pack: string): string {
  return pack.charAt(0).toUpperCase() + pack.slice(1);
}

function summaryOf({ shortDescription, spec, description }: ConfiguredTool): string {
  return shortDescription ?? firstSentence(spec?.description ?? description);
}

/** The first sentence by itself, then the rest. */
function paragraphs(text: string): readonly string[] {
  const first = firstSentence(text);
  const rest = text.startsWith(first) ? text.slice(first.length).trim() : '';
  if (rest === '') return [text.trim()];
  return [first, '', rest];
}

function returns({ spec }: ConfiguredTool, outputSchema: JsonObject | null): string {
  if (spec === null) return 'unknown';
  if ('whole' in spec.redaction) return 'the result as the tool gives it';
  const described = outputSchema !== null && isJsonObject(outputSchema['properties']) ? outputSchema['properties'] : {};
  const fields = spec.redaction.fields.map((field) => {
    const own = described[field];
    const text = isJsonObject(own) ? own['description'] : undefined;
    return typeof text === 'string' ? `\`${field}\` (${text.trim().replace(/\.$/, '')})` : `\`${field}\``;
  });
  return fields.join(', ');
}

function exampleLines(name: string, args: JsonObject): readonly string[] {
  const given = Object.entries(args).map(([key, value]) => `    ${key}=${literal(value)},`);
  return given.length === 0
    ? [`${name}()`]
    : [`${name}(`, ...given.slice(0, -1), given.at(-1)?.slice(0, -1) ?? '', ')'];
}

const effects = {
  read_only: 'it reads, and changes nothing.',
  state_change: 'it changes what is kept here.',
  external_side_effect: 'it is felt outside.',
} as const;

function rules({ spec, states, target, repeatable, timeoutMs }: ConfiguredTool): readonly string[] {
  const safe = spec?.effect !== 'read_only' && repeatable ? ' Repeating a call is safe.' : '';
  return [
    ...(spec === null ? [] : [`- Effect: ${effects[spec.effect]}${safe}`]),
    `- Available in: ${states.includes('*') ? 'every state' : states.map((state) => `\`${state}\``).join(', ')}`,
    ...(target === null ? [] : [`- A successful call leads to the state \`${target}\`.`]),
    `- Time limit of a call: ${timeoutMs / 1_000} s`,
  ];
}
