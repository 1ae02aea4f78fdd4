import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const fromSource = import.meta.url.endsWith('.ts');

/** Where the build puts the console: `dist/console` of the project. */
export const builtConsole = join(import.meta.dirname, fromSource ? '../../../../dist/console' : 'console');

const page = 'index.html';

/** Types by file extension; with `nosniff` a browser reads a file as nothing else. */
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
};
const compressible = new Set(['.html', '.js', '.css', '.json', '.map', '.txt', '.webmanifest', '.svg']);
const otherType = 'application/octet-stream';

export type Encoding = 'br' | 'gzip';

const compress: Readonly<Record<Encoding, (bytes: Buffer) => Promise<Buffer>>> = {
  // The last two levels take ten times as long for a few percent.
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (bytes) => promisify(gzip)(bytes, { level: 9 }),
};

/** A file of the console: read once, and compressed once for each encoding that a browser asks for. */
export class ConsoleFile {
  readonly type: string;
  readonly isCompressible: boolean;
  private bytes: Promise<Buffer> | undefined;
  private readonly encoded = new Map<Encoding, Promise<Buffer>>();

  constructor(private readonly path: string) {
    const extension = extname(path);
    this.type = types[extension] ?? otherType;
    this.isCompressible = compressible.has(extension);
  }

  plain(): Promise<Buffer> {
    this.bytes ??= readFile(this.path).catch((error: unknown) => {
      // The next request tries again.
      this.bytes = undefined;
      throw error;
    });
    return this.bytes;
  }

  compressed(encoding: Encoding): Promise<Buffer> {
    const known = this.encoded.get(encoding) ?? this.plain().then(compress[encoding]);
    this.encoded.set(encoding, known);
    known.catch(() => this.encoded.delete(encoding));
    return known;
  }
}

/** One build of the console. */
interface Build {
  /** When its page was written. */
  readonly at: number;
  readonly page: string;
  /** By the path of the URL, as `/assets/index-3f9c.js`. Nothing else is served, whatever a path says. */
  readonly files: ReadonlyMap<string, ConsoleFile>;
}

/** The console's files in memory. A new build in the folder is noticed with the next page. */
export class ConsoleFiles {
  private build: Promise<Build> | undefined;

  constructor(private readonly folder: string) {}

  /** `index.html`; null where the console has not been built. */
  async page(): Promise<string | null> {
    const path = join(this.folder, page);
    if (!existsSync(path)) return null;
    const { mtimeMs } = await stat(path);
    if ((await this.build)?.at !== mtimeMs) {
      const next = this.read(mtimeMs);
      this.build = next;
      // What could not be read is read again the next time.
      next.catch(() => (this.build = undefined));
    }
    return (await this.build)?.page ?? null;
  }

  async file(path: string): Promise<ConsoleFile | undefined> {
    // After a start, or on another instance, a browser may ask for a file before it asks for the page.
    if (this.build === undefined) await this.page();
    return (await this.build)?.files.get(path);
  }

  private async read(at: number): Promise<Build> {
    const found = await readdir(this.folder, { recursive: true, withFileTypes: true });
    const files = found
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((path) => [path.slice(this.folder.length).replaceAll('\\', '/'), new ConsoleFile(path)] as const)
      .filter(([path]) => path !== `/${page}`);
    return { at, page: await readFile(join(this.folder, page), 'utf8'), files: new Map(files) };
  }
}
