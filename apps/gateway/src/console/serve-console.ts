import { randomBytes } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';
import { allowedMethods } from '../openapi/routes.js';
import type { ConsoleFile, ConsoleFiles, Encoding } from './console-files.js';

/** Stands in `index.html` for the nonce of a response. */
const placeholder = /__NONCE__/g;

/** Files with a hash of their content in their names never change. */
const hashed = '/assets/';
const forEver = 'public, max-age=31536000, immutable';
const checkedAgain = 'no-cache';

const notBuilt = `The console has not been built here. Run \`npm run build\` in the folder of the project, and load this page again.
`;

/** What the pages may ask beside this gateway: the origin of the issuer that a person signs in at. */
type OtherOrigins = () => readonly string[];

/**
 * Serves the console: its files, and its page at every path that is no route of the gateway when a browser asks for
 * HTML, so that links into it work. It goes before the routes and shadows none.
 */
export function serveConsole(files: ConsoleFiles, otherOrigins: OtherOrigins) {
  return (request: Request, response: Response, next: NextFunction): void => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return next();
    const { path } = request;
    if (allowedMethods(path.toLowerCase()) !== null || /^(?:\/openai|\/anthropic)?\/v1(\/|$)/i.test(path))
      return next();
    serve(request, response, files, otherOrigins).then((isServed) => (isServed ? undefined : next()), next);
  };
}

async function serve(
  request: Request,
  response: Response,
  files: ConsoleFiles,
  otherOrigins: OtherOrigins,
): Promise<boolean> {
  const { path } = request;
  const file = path === '/' ? undefined : await files.file(path);
  if (file !== undefined) {
    await sendFile(request, response, file);
    return true;
  }
  // A file of a former build is gone; a page in its place would be read as a script.
  if (path.startsWith(hashed) || !(path === '/' || asksForHtml(request))) return false;
  const html = await files.page();
  if (html === null) response.status(404).type('text/plain; charset=utf-8').send(notBuilt);
  else sendPage(response, html, otherOrigins());
  return true;
}

/** A browser that opens an address names HTML; programs take anything or JSON. */
function asksForHtml(request: Request): boolean {
  return /\btext\/html\b/i.test(request.get('accept') ?? '');
}

function sendPage(response: Response, html: string, otherOrigins: readonly string[]): void {
  const nonce = randomBytes(18).toString('base64url');
  response
    .status(200)
    .type('text/html; charset=utf-8')
    .set({ 'content-security-policy': pagePolicy(nonce, otherOrigins), 'cross-origin-opener-policy': 'same-origin' })
    .send(html.replace(placeholder, nonce));
}

/** Only what this response names may run, and pages ask this gateway alone, or whom a person signs in at. */
function pagePolicy(nonce: string, otherOrigins: readonly string[]): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    `connect-src ${["'self'", ...otherOrigins].join(' ')}`,
    "font-src 'self'",
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  ].join('; ');
}

async function sendFile(request: Request, response: Response, file: ConsoleFile): Promise<void> {
  const encoding = file.isCompressible ? encodingFor(request) : null;
  response
    .status(200)
    .type(file.type)
    .set({
      'cache-control': request.path.startsWith(hashed) ? forEver : checkedAgain,
      'cross-origin-resource-policy': 'same-origin',
    });
  response.vary('accept-encoding');
  if (encoding !== null) response.set('content-encoding', encoding);
  response.send(encoding === null ? await file.plain() : await file.compressed(encoding));
}

function encodingFor(request: Request): Encoding | null {
  const best = request.acceptsEncodings('br', 'gzip', 'identity');
  return best === 'br' || best === 'gzip' ? best : null;
}
