import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Makes the labelled sample from MetaTool’s data set (HowieHwong/MetaTool, MIT licence):
 *
 *   node bench/discovery/sample.ts FOLDER        (which holds plugin_des.json and all_clean_data.csv)
 *
 * 400 questions on which weights may be chosen, and 1,000 others on which they are measured; drawn with a fixed seed.
 */
const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('Name the folder that holds plugin_des.json and all_clean_data.csv.');

/** A generator of numbers from 0 to 1 that gives the same ones each time (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const tools = JSON.parse(readFileSync(join(folder, 'plugin_des.json'), 'utf8')) as Record<string, string>;
const rows = readFileSync(join(folder, 'all_clean_data.csv'), 'utf8')
  .split(/\r?\n/)
  .slice(1)
  .flatMap((line): readonly (readonly [string, string])[] => {
    const at = line.lastIndexOf(',');
    const question = line
      .slice(0, at)
      .replace(/^"(.*)"$/, '$1')
      .replaceAll('""', '"');
    const tool = line.slice(at + 1);
    return Object.hasOwn(tools, tool) && question !== '' ? [[question, tool]] : [];
  });
const next = numbers(7);
const drawn = new Set<number>();
while (drawn.size < 1_400) drawn.add(Math.floor(next() * rows.length));
const questions = [...drawn].map((at) => rows[at]);
const sample = { tools, choosing: questions.slice(0, 400), measuring: questions.slice(400) };
writeFileSync(new URL('metatool.json', import.meta.url), `${JSON.stringify(sample, null, 1)}\n`);
