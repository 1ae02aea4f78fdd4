import type { Codec, ToolLocations } from './codec.js';
import { codecs } from './codecs/all.js';
import { addMember, applyEdits, type Edit, editItems, removeMembers } from './json/edit.js';
import { type Body, readBody } from './json/body.js';
import { JsonSpan } from './json/span.js';
import type { Message, WireName, WireTool } from './types.js';

/** What of a request is changed; everything else keeps its bytes. */
interface RequestEdit {
  /** Which of the client’s own tools stay; those of the provider do in any case. Absent: all. */
  readonly keepTool?: (name: string) => boolean;
  /** Which of those that stay are marked as tools that the provider’s own search finds. */
  readonly deferTool?: (name: string) => boolean;
  /**
   * Tools that are put before them: those that are in each request of a conversation, so that its cache begins with
   * them.
   */
  readonly leadTools?: readonly WireTool[];
  /** Tools that are put behind them. */
  readonly addTools?: readonly WireTool[];
  /** Texts of tools that are put behind those, as a client of this wire wrote them. */
  readonly addRawTools?: readonly string[];
  /**
   * Whether a mark on a tool that goes or is deferred, where a cache ends, moves to the last tool before it that is
   * shown.
   */
  readonly moveCacheMarks?: boolean;
  /** Messages that are put behind the others. */
  readonly addMessages?: readonly Message[];
}

/** The client’s own tools in a request, each with its text as it stands there, in their order. */
export function toolTexts(wire: WireName, body: Body): readonly { readonly name: string; readonly raw: string }[] {
  const { lists } = codecs[wire].toolLocations(readBody(body));
  const [first] = lists;
  if (lists.length !== 1 || first === undefined) return lists.flatMap((list) => textsIn(list));
  return first.span.repeated?.once(`texts of ${wire}`, () => textsIn(first)) ?? textsIn(first);
}

function textsIn({
  span,
  names,
}: ToolLocations['lists'][number]): readonly { readonly name: string; readonly raw: string }[] {
  return span.items.flatMap((item, at) => {
    const name = names[at];
    return name === null || name === undefined ? [] : [{ name, raw: item.source }];
  });
}

/** A client’s request with tools taken out or put in and messages put behind. Not one other character changes. */
export function editRequest(wire: WireName, body: Body, edit: RequestEdit): string {
  const codec = codecs[wire];
  const root = readBody(body);
  return applyEdits(root, [...toolEdits(codec, root, edit), ...messageEdits(codec, root, edit)]);
}

function toolEdits(
  codec: Codec,
  root: JsonSpan,
  {
    keepTool = () => true,
    deferTool,
    leadTools = [],
    addTools = [],
    addRawTools = [],
    moveCacheMarks = false,
  }: RequestEdit,
): Edit[] {
  const places = codec.toolLocations(root);
  const added = [...addTools.map((tool) => codec.encodeTool(tool)), ...addRawTools];
  const leading = leadTools.map((tool) => codec.encodeTool(tool));
  if (places.lists.length === 0) {
    const all = [...leading, ...added];
    return all.length === 0 ? [] : [addMember(places.holder, places.name, places.wrap(all))];
  }
  const isKept = (name: string | null | undefined): boolean => name === null || name === undefined || keepTool(name);
  const isAny =
    added.length + leading.length > 0 ||
    places.lists.some(({ names }) => names.some(isKept)) ||
    hasOthers(root, places.lists.length);
  const isSame =
    added.length + leading.length === 0 &&
    deferTool === undefined &&
    places.lists.every(({ names }) => names.every(isKept));
  if (isSame) return [];
  if (!isAny) return places.whenEmpty.flatMap(({ holder, names }) => removeMembers(holder, names));
  return places.lists.flatMap(({ span, names }, index) => {
    const behind = index === places.lists.length - 1 ? added : [];
    const before = index === 0 ? leading : [];
    const isDeferred = (at: number): boolean => {
      const name = names[at];
      return deferTool !== undefined && name !== null && name !== undefined && isKept(name) && deferTool(name);
    };
    const isShown = (at: number): boolean => isKept(names[at]) && !isDeferred(at);
    const put = [...before, ...behind];
    const { edits, texts } = moveCacheMarks ? moveMark(span, isShown, put) : { edits: [], texts: put };
    const deferred =
      deferTool === undefined ? [] : span.items.flatMap((tool, at) => (isDeferred(at) ? deferralEdits(tool) : []));
    const around = { before: texts.slice(0, before.length), behind: texts.slice(before.length) };
    return [...editItems(span, (at) => isKept(names[at]), around), ...edits, ...deferred];
  });
}

const mark = 'cache_control';
const deferral = 'defer_loading';

/** Marks a tool; no cache can end at one that is not shown. */
function deferralEdits(tool: JsonSpan): Edit[] {
  const said = tool.member(deferral);
  const set: Edit =
    said === undefined
      ? addMember(tool, deferral, 'true')
      : { of: said.text, start: said.start, end: said.end, text: 'true' };
  return [...removeMembers(tool, [mark]), set];
}

/**
 * A mark on a tool says that a cache ends there. Where that tool goes, the mark moves to the last tool before it that
 * stays; where there is none, to the first that is added.
 */
function moveMark(
  list: JsonSpan,
  isKept: (at: number) => boolean,
  added: readonly string[],
): { readonly edits: Edit[]; readonly texts: readonly string[] } {
  const edits = new Map<number, Edit>();
  let texts = added;
  for (const at of markedIn(list)) {
    const marked = list.items[at]?.member(mark);
    if (isKept(at) || marked === undefined) continue;
    const to = list.items.findLastIndex((_, other) => other < at && isKept(other));
    const target = list.items[to];
    if (target?.isObject === true && target.member(mark) === undefined)
      edits.set(to, addMember(target, mark, marked.source));
    const [first, ...rest] = texts;
    if (to !== -1 || first === undefined) continue;
    const span = JsonSpan.of(first);
    if (span.member(mark) === undefined) texts = [applyEdits(span, [addMember(span, mark, marked.source)]), ...rest];
  }
  return { edits: [...edits.values()], texts };
}

function markedIn(list: JsonSpan): readonly number[] {
  const look = (): readonly number[] => list.items.flatMap((item, at) => (item.member(mark) === undefined ? [] : [at]));
  return list.repeated?.once('cache marks', look) ?? look();
}

/** Gemini’s list of tools may hold some of Google’s own beside the lists of functions. */
function hasOthers(root: JsonSpan, lists: number): boolean {
  const tools = root.member('tools');
  return tools !== undefined && tools.items.some((tool) => tool.member('functionDeclarations') !== undefined)
    ? tools.items.length > lists
    : false;
}

function messageEdits(codec: Codec, root: JsonSpan, { addMessages = [] }: RequestEdit): Edit[] {
  const items = codec.encodeMessages(addMessages);
  if (items.length === 0) return [];
  const list = root.member(codec.messagesName);
  if (list === undefined) return [addMember(root, codec.messagesName, `[${items.join(',')}]`)];
  if (list.isString) {
    // Responses takes a text for the only message.
    const said = `{"type":"message","role":"user","content":${list.source}}`;
    return [{ of: list.text, start: list.start, end: list.end, text: `[${[said, ...items].join(',')}]` }];
  }
  return editItems(list, () => true, { behind: items });
}
