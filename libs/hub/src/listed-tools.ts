import { createHash } from 'node:crypto';
import type { Client } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { cut, isIcon, isJsonObject, pinOf, wellFormed } from '@sluice/core';
import { convertOffer } from '@sluice/schemas';
import type { JsonObject, JsonValue, McpServer, OfferedTool, ToolIcon } from '@sluice/core';
import { headerArgumentsIn } from './header-arguments.js';

/** More tools than this of one server, and more pages of its list, are not looked at unless `max_tools` says so. */
const mostToolsByDefault = 1_000;
const mostPages = 1_000;

/** Characters of a title, and pictures of one tool, that are passed on. */
const titleCharacters = 200;
const mostIcons = 4;

/** What is read of a page: each tool is looked at by itself, so that one that is malformed does not hide the others. */
const Page = z.object({ tools: z.array(z.unknown()), nextCursor: z.string().nullish() });

/** What was read of a server's list of tools. */
interface ListedTools {
  readonly tools: readonly OfferedTool[];
  /** Names of tools that run as tasks of the server, and in no other way. */
  readonly tasks: ReadonlySet<string>;
  /** Why there may be more, behind “The MCP server …”; null for a list that came to its end. */
  readonly endless: string | null;
}

/**
 * All tools of a server, every page of them. Where the pages do not come to an end, what was read of them: a server
 * that gives out the same cursor again has mostly shown everything; likewise where they are too many. Throws if a
 * page does not come in time. `readsHeaders` says whether the server gets arguments as headers, where its tools ask
 * for them.
 */
export async function listTools(
  client: Client,
  endsAt: number,
  { mostTools = mostToolsByDefault }: Pick<McpServer, 'mostTools'>,
  readsHeaders: boolean,
): Promise<ListedTools> {
  const tools: OfferedTool[] = [];
  const tasks = new Set<string>();
  const cursors = new Set<string>();
  for (let cursor: string | null | undefined; ;) {
    const timeout = endsAt - Date.now();
    if (timeout <= 0) return { tools, tasks, endless: 'did not come to the end of its list of tools in time' };
    const params = cursor === undefined ? {} : { cursor };
    const page = await client.request({ method: 'tools/list', params }, Page, { timeout, maxTotalTimeout: timeout });
    const room = mostTools - tools.length;
    for (const name of page.tools.slice(0, room).flatMap(namesTask)) tasks.add(name);
    tools.push(...wellFormed(page.tools.slice(0, room)).flatMap((tool) => offered(tool, readsHeaders)));
    if (page.tools.length > room)
      return { tools, tasks, endless: `offers more than ${mostTools} tools, which max_tools of the server raises` };
    cursor = page.nextCursor;
    if (cursor === undefined || cursor === null) return { tools, tasks, endless: null };
    // Without this a server whose pages go round, or are empty for ever, would be read until the time is up.
    if (cursors.has(cursor))
      return { tools: eachOnce(tools), tasks, endless: 'gives out the same cursor of its list of tools again' };
    if (cursors.size > mostPages) return { tools, tasks, endless: `has more than ${mostPages} pages of tools` };
    cursors.add(cursor);
  }
}

/** Pages that go round show the same tools again. */
function eachOnce(tools: readonly OfferedTool[]): readonly OfferedTool[] {
  return [...new Map(tools.map((tool) => [JSON.stringify(tool), tool])).values()];
}

/**
 * What a tool of these is held to; null if there is none of the name, more than one, or one that could not be
 * allowed.
 */
export function pinIn(tools: readonly OfferedTool[], name: string): string | null {
  const [tool, ...others] = tools.filter((one) => one.name === name);
  if (tool === undefined || others.length > 0 || 'problems' in convertOffer(tool)) return null;
  return pinOf(tool, (text) => createHash('sha256').update(text).digest('hex'));
}

function namesTask(tool: unknown): readonly string[] {
  const { name, execution } = (tool ?? {}) as JsonObject;
  const isTask = isJsonObject(execution) && execution['taskSupport'] === 'required';
  return isTask && typeof name === 'string' ? [name] : [];
}

/** What has no name cannot be named; what has no schema is offered with one that fits no call, and so says why. */
function offered(tool: unknown, readsHeaders: boolean): readonly OfferedTool[] {
  // What came over the wire is JSON.
  const given = tool as JsonValue;
  if (!isJsonObject(given) || typeof given['name'] !== 'string') return [];
  const { name, description, inputSchema, outputSchema } = given;
  const { problems } = readsHeaders && isJsonObject(inputSchema) ? headerArgumentsIn(inputSchema) : { problems: [] };
  return [
    {
      name,
      description: typeof description === 'string' ? description : '',
      inputSchema: schemaIn(inputSchema) ?? {},
      outputSchema: schemaIn(outputSchema),
      ...shownToPeople(given),
      ...(problems.length === 0 ? {} : { headerProblems: problems }),
    },
  ];
}

/** What clients show of the tool. A title or a picture that cannot be shown is left out. */
function shownToPeople({ title, annotations, icons }: JsonObject): Pick<OfferedTool, 'title' | 'icons'> {
  const titles = [title, isJsonObject(annotations) ? annotations['title'] : undefined];
  const [shown] = titles.flatMap((one) => (typeof one === 'string' ? [cut(one.trim(), titleCharacters)] : []));
  const pictures = Array.isArray(icons) ? (icons as readonly JsonValue[]).flatMap(iconIn).slice(0, mostIcons) : [];
  return {
    ...(shown === undefined || shown === '' ? {} : { title: shown }),
    ...(pictures.length === 0 ? {} : { icons: pictures }),
  };
}

function iconIn(icon: JsonValue): readonly ToolIcon[] {
  if (!isJsonObject(icon)) return [];
  const { src, mimeType, sizes, theme } = icon;
  if (typeof src !== 'string' || !isIcon(src)) return [];
  const known = (Array.isArray(sizes) ? (sizes as readonly JsonValue[]) : []).flatMap((size) =>
    typeof size === 'string' && /^(?:any|\d{1,5}x\d{1,5})$/.test(size) ? [size] : [],
  );
  return [
    {
      src,
      ...(typeof mimeType === 'string' && /^image\/[a-z+.-]{1,40}$/.test(mimeType) ? { mimeType } : {}),
      ...(known.length === 0 ? {} : { sizes: known.slice(0, 8) }),
      ...(theme === 'light' || theme === 'dark' ? { theme } : {}),
    },
  ];
}

function schemaIn(value: JsonValue | undefined): JsonObject | null {
  return isJsonObject(value) ? value : null;
}
