import { isIcon, plainJson } from '@sluice/core';
import type { JsonObject } from '@sluice/core';
import { describe } from './problems.js';
import type { Section } from './section.js';

/** Bytes of the arguments of one example as JSON: each list of tools carries them. */
const longestExample = 4_096;
const mostExamples = 8;

/** The picture of a tool that MCP clients show: an https address, or the image itself. */
export function readIcon(section: Section): string | null {
  const write = 'an https address, or `data:image/png;base64,…` (png, jpeg, webp or svg+xml) of at most 16 KiB';
  const icon = section.text('icon', write);
  if (icon === null || isIcon(icon)) return icon;
  // An icon may be long; what is wrong with it is seldom in the words.
  section.problem(section.at('icon'), 'a text that is no icon', write);
  return null;
}

/** Arguments of sample calls. Whether they fit the tool is seen with its schema. */
export function readExamples(section: Section): readonly JsonObject[] {
  const items = section.items('examples', 'a list of arguments, each a map') ?? [];
  if (items.length > mostExamples)
    section.problem(section.at('examples'), `${String(items.length)} examples`, `at most ${String(mostExamples)}`);
  return items.flatMap((item, place) => {
    const example = argumentsIn(item);
    if (example !== null) return [example];
    const write = `the arguments of a call, as a map of at most ${String(longestExample)} bytes`;
    section.problem(section.itemAt('examples', place), describe(item), write);
    return [];
  });
}

function argumentsIn(item: unknown): JsonObject | null {
  try {
    const plain = plainJson(item, longestExample);
    return typeof plain === 'object' && plain !== null && !Array.isArray(plain) ? (plain as JsonObject) : null;
  } catch {
    return null;
  }
}
