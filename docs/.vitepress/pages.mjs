import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { apiPages } from './api-pages.mjs';
import { keyPage } from './key-page.mjs';
import { aboutPage, changeLinks } from './markdown.mjs';
import { groups, lookedUp } from './nav.mjs';

/** Where files stand on the site that are outside of docs/. */
const filesFolder = 'files';

/** Pages of docs/ with another address on the site, by paths in the project. */
const moved = { 'docs/README.md': 'index.md', 'README.md': 'index.md', 'docs/tools/README.md': 'tools/index.md' };

/** What the first page shows above its text, which begins with its picture. */
const hero = {
  layout: 'home',
  hero: {
    name: 'Sluice',
    text: 'Tools for LLM agents, each decision on a log',
    tagline: 'Who may use which tool, in which state, and why: decided by rules, run once, replayed later.',
    image: { light: '/console/run.png', dark: '/console/run-dark.png', alt: 'A run in the console' },
    actions: [
      { theme: 'brand', text: 'Tutorial', link: '/tutorial' },
      { theme: 'alt', text: 'Install', link: '/install' },
      { theme: 'alt', text: 'Which to choose', link: '/which-to-choose' },
    ],
  },
};

/** A page as VitePress reads it: the first one has its title and picture above its text. */
export const asSource = ({ path, text }) =>
  path === 'index.md'
    ? `---\n${JSON.stringify(hero)}\n---\n${text.replace(/^# .+$/m, '').replace(/^!\[.+$/m, '')}`
    : text;

/**
 * All that the site is made of: its pages, each with its path on the site and its Markdown, and the files beside them,
 * by their path on the site with the path in the project. Links to files outside of docs/ lead to what stands for
 * them on the site. Throws an Error that names the page whose link leads nowhere, or that is in no group.
 */
export function readSite(root) {
  const site = { pages: [], files: new Map() };
  const waiting = globSync(['docs/*.md', 'docs/tools/*.md'], { cwd: root }).map((path) => path.replaceAll('\\', '/'));
  for (const { files = {} } of groups) waiting.push(...Object.keys(files));
  const seen = new Set(waiting);
  const need = (path) => {
    if (!seen.has(path)) waiting.push(path);
    seen.add(path);
  };
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) takeIn(root, next, site, need);

  const text = (path) => readFileSync(join(root, path), 'utf8');
  const keys = keyPage(JSON.parse(text('schemas/configuration.schema.json')), text('docs/configuration.md'));
  site.pages.push({ path: 'reference/configuration.md', text: keys, title: 'Every key' });
  site.pages.push(...apiPages(JSON.parse(text('schemas/openapi.json'))));
  for (const name of ['openapi.json', 'asyncapi.json', 'configuration.schema.json'])
    site.files.set(name, `schemas/${name}`);
  for (const image of globSync(['docs/*.svg', 'docs/console/*.png'], { cwd: root }))
    site.files.set(image.replaceAll('\\', '/').replace('docs/', ''), image);
  site.files.set('icon.svg', 'apps/console/src/icon.svg');
  site.pages.sort((one, other) => (one.path < other.path ? -1 : 1));
  return site;
}

/** Takes one file or folder of the project into the site, and says which others its links need. */
function takeIn(root, source, site, need) {
  const path = addressOf(root, source);
  if (statSync(join(root, source)).isDirectory()) {
    const list = filesIn(root, source);
    for (const file of list) need(file);
    const text = [
      `# ${source}`,
      '',
      `The files of \`${source}\` in the project.`,
      '',
      ...list.map((file) => `- [${posix.relative(source, file)}](/${addressOf(root, file)})`),
      '',
    ].join('\n');
    site.pages.push({ path, text, title: source });
  } else if (source.endsWith('.md')) {
    const written = readFileSync(join(root, source), 'utf8');
    const text = changeLinks(written, (target) => linkOnSite(root, source, target, need));
    site.pages.push({ path, text, title: aboutPage(text).title });
  } else {
    site.files.set(path, source);
  }
}

/** Files of a folder that belong to the project: what git knows, or in a copy without git all of them. */
function filesIn(root, folder) {
  const { status, stdout } = spawnSync('git', ['ls-files', '-z', '--', folder], { cwd: root, encoding: 'utf8' });
  const known = status === 0 ? stdout.split('\0').filter((file) => file !== '') : [];
  if (known.length > 0) return known;
  return globSync(`${folder}/**/*`, { cwd: root, exclude: (name) => name === 'node_modules' || name === 'dist' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => statSync(join(root, path)).isFile())
    .sort();
}

/** The path on the site of a file or folder of the project. Sources get `.txt`, so that browsers show them. */
function addressOf(root, source) {
  if (moved[source] !== undefined) return moved[source];
  if (/^docs\/.*\.(?:md|svg|png)$/.test(source)) return source.slice('docs/'.length);
  if (statSync(join(root, source)).isDirectory()) return `${filesFolder}/${source}/index.md`;
  if (/\.(?:png|svg|pdf|docx)$/.test(source)) return `${filesFolder}/${source}`;
  return `${filesFolder}/${source}${source.endsWith('.md') ? '' : '.txt'}`;
}

/** A link of a page as the site has it. */
function linkOnSite(root, source, target, need) {
  if (/^(?:[a-z]+:|#|\/)/i.test(target)) return target;
  const [path = '', anchor] = target.split('#', 2);
  const found = posix.normalize(posix.join(posix.dirname(source), path)).replace(/\/$/, '');
  if (!existsSync(join(root, found))) throw new Error(`${source} links to ${target}, which is not there.`);
  need(found);
  const from = posix.dirname(addressOf(root, source));
  const to = addressOf(root, found);
  const link = to.endsWith('.md') ? relativeTo(from, to) : `/${to}`;
  return anchor === undefined ? link : `${link}#${anchor}`;
}

function relativeTo(from, to) {
  const link = posix.relative(from, to);
  return link.startsWith('.') ? link : `./${link}`;
}

/** Pages of docs/ that no group names: they stand in one of their own until nav.mjs has them. */
function furtherPages(pages) {
  const known = new Set(groups.flatMap((group) => Object.keys(group.pages).map((name) => `${name}.md`)));
  const further = pages.filter(({ path }) => !path.includes('/') && path !== 'index.md' && !known.has(path));
  if (further.length === 0) return [];
  return [
    {
      title: 'Further pages',
      pages: Object.fromEntries(further.map(({ path, text }) => [path.replace(/\.md$/, ''), aboutPage(text).title])),
    },
  ];
}

/** Groups of links for navigation. */
export function navigation(pages) {
  return [...groups, ...furtherPages(pages)].map(({ title, pages: names, generated, files = {} }) => ({
    text: title,
    items: [
      ...Object.entries(names).map(([name, text]) => ({ text, link: `/${name}` })),
      ...(generated === undefined ? [] : generatedItems(pages)),
      ...Object.entries(files).map(([file, text]) => ({ text, link: `/${filesFolder}/${file.replace(/\.md$/, '')}` })),
    ],
  }));
}

function generatedItems(pages) {
  const within = (folder) =>
    pages
      .filter(({ path }) => path.startsWith(`${folder}/`) && !path.endsWith('/index.md'))
      .map(({ path, title }) => ({ text: title, link: `/${path.replace(/\.md$/, '')}` }));
  return [
    { text: 'Every key of the configuration', link: '/reference/configuration' },
    { text: 'HTTP API, every operation', link: '/reference/api/', collapsed: true, items: within('reference/api') },
    { text: 'Built-in tools', link: '/tools/', collapsed: true, items: within('tools') },
  ];
}

/** Whether search leaves a page out: what is looked up, and files of the project. */
export const isLookedUp = (path) =>
  lookedUp.includes(path.replace(/\.md$/, '')) ||
  (path.startsWith(`${filesFolder}/`) && !path.endsWith('CONTRIBUTING.md'));

/** llms.txt: every page with its address as Markdown and its first sentence, group by group. */
export function llmsText(pages, base) {
  const about = new Map(pages.map(({ path, text }) => [path, aboutPage(text)]));
  const line = (path) => {
    const { title, sentence } = about.get(path);
    return `- [${title}](${base}${path})${sentence === '' ? '' : `: ${sentence}`}`;
  };
  const main = [...groups, ...furtherPages(pages)].map(({ title, pages: names }) => [
    title,
    Object.keys(names).map((name) => `${name}.md`),
  ]);
  const inMain = main.map(([title, paths]) => [title, paths.filter((path) => about.has(path) && !isLookedUp(path))]);
  const listed = new Set(inMain.flatMap(([, paths]) => paths));
  const rest = (wanted) => pages.map(({ path }) => path).filter((path) => !listed.has(path) && wanted(path));
  const isOptional = (path) => isLookedUp(path) || path.startsWith(`${filesFolder}/`);
  const sections = [
    ...inMain,
    ['Generated reference', rest((path) => /^(?:reference|tools)\//.test(path))],
    ['Optional', rest((path) => isOptional(path))],
  ];
  const { sentence } = about.get('index.md');
  return [
    '# Sluice',
    '',
    `> ${sentence}`,
    '',
    `[All pages in one file](${base}llms-full.txt), [the way in](${base}index.md).`,
    '',
    ...sections.flatMap(([title, paths]) => [`## ${title}`, '', ...paths.map(line), '']),
  ].join('\n');
}

/** llms-full.txt: all pages that people read, one after another. */
export function fullText(pages) {
  return pages
    .filter(({ path }) => !isLookedUp(path))
    .map(({ path, text }) => `<!-- ${path} -->\n\n${text.trim()}\n`)
    .join('\n\n');
}
