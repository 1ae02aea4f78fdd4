import { isBuiltin } from 'node:module';

/** Modules of Node that a tool imports for a network. */
const ofNetwork = new Set([
  ...['net', 'tls', 'http', 'https', 'http2', 'dgram', 'dns', 'dns/promises'],
  ...['_http_client', '_http_agent', '_http_server', '_tls_wrap', 'inspector', 'inspector/promises'],
]);

/** The module of Node by this name, if it is one for a network. */
export function networkModule(specifier: string): string | null {
  if (!isBuiltin(specifier)) return null;
  const name = specifier.replace(/^node:/, '');
  return ofNetwork.has(name) ? `node:${name}` : null;
}

/**
 * Names of the language’s own that a source uses for a network, as far as its text says; a method of that name, as of
 * `connections`, is none.
 */
export function networkNames(source: string): readonly string[] {
  return usedOf(forms, source);
}

/** The names whose form is in the code of a source, outside of its comments. */
export function usedOf(of: Readonly<Record<string, RegExp>>, source: string): readonly string[] {
  const code = source.replace(/\/\*[\s\S]*?\*\/|(?<![:'"`])\/\/[^\n]*/g, '');
  return Object.entries(of).flatMap(([name, form]) => (form.test(code) ? [name] : []));
}

const forms = {
  fetch: /(?<![.\w$])(?:globalThis\s*\.\s*)?fetch\s*\(/,
  WebSocket: /(?<![.\w$])new\s+(?:globalThis\s*\.\s*)?WebSocket\s*\(/,
  EventSource: /(?<![.\w$])new\s+(?:globalThis\s*\.\s*)?EventSource\s*\(/,
};
