import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { commentLines } from './comments.js';
import type { CommentLine } from './comments.js';
import { idsInText } from './named-ids.js';
import { readRequirements } from './requirements-page.js';
import { partsOf, textsOf } from './texts.js';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const list = (...patterns: readonly string[]): readonly string[] =>
  globSync(patterns, { cwd: root })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !/\/(?:generated|node_modules)\/|\/probe-/.test(path));

/** Words that stay out of comments, pages, test titles and messages, and what to write instead. */
const avoided: Readonly<Record<string, string>> = {
  told: 'reported, recorded, shown, streamed: what happens in the system',
  whoever: 'the one who acts: a caller, an operator, the next owner',
  nobody: 'the one who is missing, or the passive: no caller, is unknown',
  somebody: 'the one who acts: a caller, an approver, another process',
  anew: 'again',
  'what came of': 'the result, the outcome',
  'what comes of': 'the outputs',
  'what becomes of': 'the result, the outcome',
  'passed over': 'skipped, ignored',
  'given up': 'dead-lettered, abandoned, revoked',
  'gives up': 'abandons, stops',
};
/** Texts that stand in steps and refusals of runs: a replay compares them, so they stay as they are on logs. */
const onLogs: ReadonlySet<string> = new Set(
  [
    ' cannot begin: its request_id was taken by somebody else. Go on without it.',
    'Nobody approved this call in time, so it was not made. Go on without it, or answer.',
    ' needs an approval, and there is nobody to give it.',
    'The policy does not allow it, or names nobody who may approve it.',
  ].map((text) => text.trim()),
);
const avoidedForm = new RegExp(`\\b(?:${Object.keys(avoided).join('|')})\\b`, 'i');

/** Words that stay out of exported names, as parts of a name in their order, and what to write instead. */
const avoidedInNames: Readonly<Record<string, string>> = {
  told: 'EntryDraft, report…: what is recorded, reported or streamed',
  telling: 'the same',
  asked: '…Request',
  unasked: '…WithoutApproval',
  surroundings: '…Context, …Dependencies',
  'given up': 'dead-lettered, abandoned',
  'passed over': 'skipped',
  place: '…Position, …Location, …Address: what is at the place says which',
  places: 'the same',
  placed: 'the same',
  taken: '…Claimed, …Accepted, …InUse',
};
const avoidedPart = new RegExp(`\\b(?:${Object.keys(avoidedInNames).join('|')})\\b`);
const isAvoidedName = (name: string): boolean => avoidedPart.test(partsOf(name).join(' '));

/** Names of texts that are not in the repository, and of their parts. */
const elsewhere = /\bDESIGN\b|\bspec\/[\w-]|\b[Rr]ulings?\b|\b[Ii]nvariants? \d|§/;

const shipped = list('libs/*/src/**/*.ts', 'apps/*/src/**/*.{ts,tsx}').flatMap((path) =>
  commentLines(path, read(path)),
);
/** Tests name requirements in titles; of their comments only those are read that may cite something else. */
const others = list('{libs,apps}/*/test/**/*.ts', 'test/**/*.ts', 'bench/**/*.ts', 'ops/**/*.ts').flatMap((path) => {
  const text = read(path);
  return elsewhere.test(text) || /\.md\b/.test(text) ? commentLines(path, text) : [];
});
const comments = [...shipped, ...others];
const pages = linesOf('*.md', 'docs/*.md', 'libs/*/src/**/*.md');
/** Pages that are read today; a changelog stays as it was written. */
const guides = [...pages, ...linesOf('{docs,packages,examples}/**/*.md')].filter(({ path }) => path !== 'CHANGELOG.md');
const at = ({ path, line, text }: CommentLine): string => `${path}:${line}: ${text}`;

describe('pages', () => {
  it('have the same words', () => {
    expect(guides.filter(({ text }) => avoidedForm.test(text)).map(at)).toEqual([]);
  });

  it('have the same words: what schemas, dashboards, alerts and manifests say', () => {
    const texts = linesOf('schemas/*.{avsc,json}', 'ops/**/*.{ts,yml,yaml,json,sh,mjs}', 'ops/Dockerfile');
    expect(texts.length).toBeGreaterThan(10_000);
    expect(texts.filter(({ text }) => avoidedForm.test(text)).map(at)).toEqual([]);
  });

  it.each(['You are told.', '| what | What becomes of it |', 'records that were passed over'])(
    'could fail the check: %s',
    (text) => expect(text).toMatch(avoidedForm),
  );

  it('may quote names of the wire', () => expect('`source_untold`, `not_told`').not.toMatch(avoidedForm));
});

describe('messages', () => {
  it('have the same words: all literals of what is shipped', () => {
    const literals = list('libs/*/src/**/*.ts', 'apps/*/src/**/*.ts').flatMap((path) => {
      const text = read(path);
      return avoidedForm.test(text) ? textsOf(path, text).literals : [];
    });
    const found = literals.filter(({ text }) => avoidedForm.test(text));
    expect(found.filter(({ text }) => !onLogs.has(text)).map(at)).toEqual([]);
    expect(found.map(({ text }) => text).sort()).toEqual([...onLogs].sort());
  });

  it('are read from every form of literal, line by line, and not from names of modules', () => {
    const text = "import './told.js';\nexport * from './told.js';\nsay('nobody', `anew ${x}\n  whoever`, { told: 1 });";
    const { literals } = textsOf('a.ts', text);
    expect(literals.map(({ line, text: found }) => `${line} ${found}`)).toEqual([
      '3 nobody',
      '3 anew',
      '3 ',
      '4 whoever',
    ]);
  });
});

describe('exported names', () => {
  const exported = [...new Set(list('libs/*/src/**/*.ts', 'apps/*/src/**/*.ts'))].flatMap(
    (path) => textsOf(path, read(path)).exported,
  );

  it('use the nouns of the field', () => {
    // The name that the HTTP API has for it.
    const wire = ['AskedApproval'];
    const found = exported.filter(({ text }) => isAvoidedName(text));
    expect(found.filter(({ text }) => !wire.includes(text)).map(at)).toEqual([]);
  });

  it('are all names that a file declares and exports', () => {
    const text =
      'export const a = 1, toldB = 2; const c = 3; export { c as d }; export interface E {} export * from "./f.js";';
    expect(textsOf('a.ts', text).exported.map((name) => name.text)).toEqual(['a', 'toldB', 'd', 'E']);
  });

  it.each([
    'toldOf',
    'findUnasked',
    'asGivenUp',
    'ModelSurroundings',
    'PASSED_OVER',
    'placeOf',
    'RunPlace',
    'isTurnTaken',
  ])('could fail the check: %s', (name) => expect(isAvoidedName(name)).toBe(true));

  it.each(['task', 'household', 'givenName', 'workplace', 'replaceAll', 'mistakenId'])('may be %s', (name) =>
    expect(isAvoidedName(name)).toBe(false),
  );
});

describe('test titles', () => {
  it('have the same words', () => {
    const files = list('{libs,apps}/*/test/**/*.ts', 'test/**/*.ts');
    const titles = files.flatMap((path) => {
      const text = read(path);
      return avoidedForm.test(text) ? textsOf(path, text).titles : [];
    });
    expect(titles.filter(({ text }) => avoidedForm.test(text)).map(at)).toEqual([]);
  });

  it('are the first arguments of describe, it and test, however these are called', () => {
    const text = `describe('one', () => { it.each([['no']])(\`two ${'$'}{a} three\`, f); it.skip('four', () => say('no')); });`;
    const { titles, literals } = textsOf('a.ts', text);
    expect(titles.map((title) => title.text)).toEqual(['one', 'two', 'three', 'four']);
    expect(literals.map((literal) => literal.text)).toEqual(['no', 'no']);
  });
});

describe('comments', () => {
  it('are plain: a subject that acts, and the words of the field', () => {
    expect(shipped.filter(({ text }) => avoidedForm.test(text)).map(at)).toEqual([]);
  });

  it('are read from every form of comment, and from nothing else', () => {
    const text = "/** One\n * two. */\nconst a = 'told // three'; // four\n/* five */ export default a;\n// six";
    expect(commentLines('a.ts', text).map(({ line, text: found }) => `${line} ${found}`)).toEqual([
      '1 /** One',
      '2 * two. */',
      '3 // four',
      '4 /* five */',
      '5 // six',
    ]);
  });
});

describe('comments and pages', () => {
  it('cite no text that is not in the repository', () => {
    expect([...comments, ...pages].filter(({ text }) => elsewhere.test(text)).map(at)).toEqual([]);
  });

  it.each(['DESIGN, idea 7', 'spec/tool-use.md', 'ruling XB-2', 'invariant 21', '§2b'])(
    'would be seen to: %s',
    (text) => expect(text).toMatch(elsewhere),
  );

  it('name pages that exist', () => {
    const broken = [...comments, ...pages].flatMap((line) =>
      [...line.text.matchAll(/(?<![\w/:.<{*-])([\w-]+\/)+[\w.-]+\.md\b/g)]
        .map(([path]) => path)
        .filter((path) => !pageExists(path, line.path))
        .map((path) => `${line.path}:${line.line}: ${path}`),
    );
    expect(broken).toEqual([]);
  });

  it('name ideas, points and requirements that exist', () => {
    const ideas = new Set([...read('docs/design.md').matchAll(/^\*\*(\d+)\. /gm)].map(([, idea]) => idea));
    const points = new Set(
      [...read('libs/bus/src/kafka/README.md').matchAll(/^(\d+)\. \*\*/gm)].map(([, point]) => point),
    );
    expect([ideas.size, points.size]).toEqual([15, 14]);
    const ids = new Set(readRequirements(read('docs/requirements.md')).requirements.map(({ id }) => id));
    const numbers = (text: string, form: RegExp): readonly string[] =>
      [...text.matchAll(form)].flatMap(([, found = '']) => found.match(/\d+/g) ?? []);
    const wrong = [...shipped, ...pages].flatMap((line) =>
      [
        ...numbers(line.text, /\bideas? ((?:\d+(?:, | and )?)+)/g).filter((idea) => !ideas.has(idea)),
        ...numbers(line.text, /README, points? ((?:\d+(?:, | and )?)+)/g).filter((point) => !points.has(point)),
        ...idsInText(line.text).filter((id) => !ids.has(id)),
      ].map((name) => `${name} in ${at(line)}`),
    );
    expect(wrong).toEqual([]);
  });
});

function linesOf(...patterns: readonly string[]): readonly CommentLine[] {
  return list(...patterns).flatMap((path) =>
    read(path)
      .split('\n')
      .map((text, at): CommentLine => ({ path, line: at + 1, text })),
  );
}

/** From the root, or beside the file that names it. */
function pageExists(path: string, from: string): boolean {
  return [path, join(dirname(from), path)].some((each) => globSync(each, { cwd: root }).length > 0);
}
