import { isJsonText, parseExactJson } from '@sluice/core';
import type { Configuration, GivenStanding } from '@sluice/core';
import { boundsOfTool } from './bounds.js';

/** Characters of bounds and of a reason: all of a tenant are read at once. */
export const standingLimits = { bounds: 2_000, reason: 500 } as const;

/** A standing approval as its record has it. */
interface WrittenStanding {
  readonly standingId: string;
  /** Its key or id. */
  readonly tool: string;
  /** JSON text; empty for whatever the tool takes. */
  readonly bounds: string;
  readonly sessionId: string;
  readonly user: string;
  readonly until: number;
  readonly calls: number;
  readonly reason: string;
}

/** What is given, with the tool’s id and its bounds as they are judged by; a sentence where it cannot be read. */
export function readStanding(
  { standingId: id, tool: name, bounds: written, sessionId: session, user, until, calls, reason }: WrittenStanding,
  { tools, lists }: Pick<Configuration, 'tools' | 'lists'>,
): GivenStanding | { readonly problem: string } {
  // The registry takes no schema whose default is the text of an empty object, so it is the empty text.
  const text = written === '' ? '{}' : written;
  const tool = tools.find((one) => one.key === name || one.id === name);
  if (tool === undefined) return { problem: 'The configuration has no tool of this key or id.' };
  const { bounds: longest, reason: longestReason } = standingLimits;
  if (text.length > longest) return { problem: `The bounds have more than ${longest} characters.` };
  if (reason.length > longestReason) return { problem: `The reason has more than ${longestReason} characters.` };
  if (!isJsonText(text)) return { problem: 'The bounds are no JSON.' };
  const bounds = boundsOfTool(parseExactJson(text), tool, lists);
  if (bounds !== null && 'problem' in bounds && typeof bounds.problem === 'string') return { problem: bounds.problem };
  return { id, tool: tool.id, bounds: bounds as GivenStanding['bounds'], session, user, until, calls };
}
