import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ToolIndex } from '@sluice/discovery';

interface Section {
  /** Such as `configuration.md`. */
  readonly page: string;
  readonly heading: string;
  readonly text: string;
}

interface FoundSection {
  readonly page: string;
  readonly section: string;
  readonly excerpt: string;
}

interface ReadPage {
  readonly page: string;
  readonly section: string | null;
  readonly text: string;
  /** Where to go on; null at the end. */
  readonly next_offset: number | null;
  /** Headings of the page. */
  readonly sections: readonly string[];
}

const excerptLength = 500;
/** Characters of a page that are read at once. */
const pieceLength = 10_000;

/** The documentation that comes with this version, and a search by words over its sections. */
export class Docs {
  private sections: readonly Section[] | undefined;
  private index: ToolIndex | undefined;

  /** `folder` holds the pages as markdown. */
  constructor(private readonly folder: string) {}

  search(query: string, most: number): readonly FoundSection[] {
    const sections = this.all();
    this.index ??= new ToolIndex(
      sections.map(({ page, heading, text }) => ({ name: `${heading} ${page}`, description: text, parameters: null })),
    );
    const scores = this.index.scores(query);
    return [...sections.keys()]
      .filter((at) => (scores[at] ?? 0) > 0)
      .sort((one, other) => (scores[other] ?? 0) - (scores[one] ?? 0))
      .slice(0, most)
      .map((at) => sections[at] as Section)
      .map(({ page, heading, text }) => ({
        page,
        section: heading,
        excerpt: text.slice(0, excerptLength).toWellFormed(),
      }));
  }

  /** Throws a sentence for a page or a section that is not there. */
  read(page: string, section: string | undefined, offset: number): ReadPage {
    const name = page.replace(/^docs\//, '').replace(/#.*$/, '');
    const own = this.all().filter((one) => one.page === name || one.page === `${name}.md`);
    const [first] = own;
    if (first === undefined) throw new Error(`There is no page ${page}. Pages are ${this.pages().join(', ')}.`);
    const chosen =
      section === undefined ? own : own.filter(({ heading }) => heading.toLowerCase() === section.toLowerCase());
    if (chosen.length === 0) throw new Error(`${first.page} has no section “${section ?? ''}”.`);
    const text = chosen.map((one) => one.text).join('');
    const past = offset + pieceLength;
    return {
      page: first.page,
      section: section ?? null,
      text: text.slice(offset, past).toWellFormed(),
      next_offset: past < text.length ? past : null,
      sections: own.map(({ heading }) => heading),
    };
  }

  /** What the page of errors says of a code; null where it has none. */
  meaningOf(code: string): string | null {
    const rows = this.all()
      .filter(({ page }) => page === 'errors.md')
      .flatMap(({ text }) => text.split('\n'));
    const row = rows.find((line) => line.startsWith(`| \`${code}\` |`));
    return row === undefined
      ? null
      : row
          .split('|')
          .slice(2, -1)
          .map((cell) => cell.trim())
          .join(' · ');
  }

  pages(): readonly string[] {
    return [...new Set(this.all().map(({ page }) => page))];
  }

  private all(): readonly Section[] {
    return (this.sections ??= existsSync(this.folder) ? readSections(this.folder) : []);
  }
}

function readSections(folder: string): readonly Section[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.md'))
    .sort();
  return names.flatMap((page) => sectionsOf(page, readFileSync(join(folder, page), 'utf8')));
}

/** A page in parts, each from one heading to the next. What looks like a heading in a block of code is none. */
function sectionsOf(page: string, text: string): readonly Section[] {
  const sections: { page: string; heading: string; text: string }[] = [];
  let isCode = false;
  for (const line of text.split(/(?<=\n)/)) {
    if (line.startsWith('```')) isCode = !isCode;
    const heading = isCode ? null : /^#{1,4} (.+?)\s*$/.exec(line);
    const last = sections.at(-1);
    if (heading !== null || last === undefined) sections.push({ page, heading: heading?.[1] ?? page, text: line });
    else last.text += line;
  }
  return sections;
}
