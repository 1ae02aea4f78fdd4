/**
 * `npm run docs`: builds the pages of docs/ to dist/site, a static site that any web server serves. `--serve` shows it
 * on this machine instead and follows what is written to docs/; `--base /sluice/` builds it for a folder of a server.
 */
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { build, createServer } from 'vitepress';
import { projectRoot, siteFolder, workFolder } from '../docs/.vitepress/folders.mjs';
import { asSource, fullText, llmsText, readSite } from '../docs/.vitepress/pages.mjs';

// Links to these are downloads.
process.env.VITE_EXTRA_EXTENSIONS ??= 'docx';

const vitePressRoot = join(projectRoot, 'docs');

/** Writes a file unless it has this content already, so that a server that watches it sees real changes alone. */
function write(file, content) {
  if (existsSync(file) && readFileSync(file, 'utf8') === content) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

/** Writes what VitePress builds; removes pages of a former build. */
function writePages() {
  const site = readSite(projectRoot);
  for (const page of site.pages) write(join(workFolder, page.path), asSource(page));
  const paths = new Set(site.pages.map(({ path }) => path));
  for (const found of globSync('**/*.md', { cwd: workFolder }))
    if (!paths.has(found.replaceAll('\\', '/'))) rmSync(join(workFolder, found));
  const beside = join(workFolder, 'public');
  rmSync(beside, { recursive: true, force: true });
  for (const [path, source] of site.files) {
    mkdirSync(dirname(join(beside, path)), { recursive: true });
    cpSync(join(projectRoot, source), join(beside, path));
  }
  return site;
}

async function buildSite(base) {
  rmSync(siteFolder, { recursive: true, force: true });
  const { pages } = writePages();
  await build(vitePressRoot, { base, outDir: siteFolder });
  for (const { path, text } of pages) write(join(siteFolder, path), text);
  write(join(siteFolder, 'llms.txt'), llmsText(pages, base));
  write(join(siteFolder, 'llms-full.txt'), fullText(pages));
  console.log(
    `${pages.length} pages in dist/site, for ${base} of a web server; \`npm run docs -- --serve\` shows them here.`,
  );
}

async function serveSite(base, port) {
  writePages();
  const server = await createServer(vitePressRoot, { base, port, host: '127.0.0.1' });
  await server.listen();
  server.printUrls();
  let later;
  watch(vitePressRoot, { recursive: true }, (_event, file) => {
    if (file === null || !file.endsWith('.md')) return;
    // An editor writes a file in several steps: the first of them waits for the others.
    later ??= setTimeout(() => {
      later = undefined;
      try {
        writePages();
      } catch (error) {
        console.error(error.message);
      }
    }, 100);
  });
}

try {
  const { values } = parseArgs({
    options: { base: { type: 'string' }, serve: { type: 'boolean' }, port: { type: 'string' } },
  });
  const base = `/${values.base ?? ''}/`.replaceAll(/\/+/g, '/');
  if (values.serve === true) await serveSite(base, Number(values.port ?? 5173));
  else await buildSite(base);
} catch (error) {
  console.error(`sluice: ${error.message}`);
  process.exitCode = 1;
}
