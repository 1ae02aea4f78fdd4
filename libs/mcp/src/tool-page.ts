const scheme = 'sluice://tools/';

/** The template of the addresses of tools’ pages. */
export const toolPageTemplate = `${scheme}{name}`;

/** The address of a tool’s page: all there is to know of it, which a list of tools leaves out. */
export function toolPageUri(name: string): string {
  return `${scheme}${encodeURIComponent(name)}`;
}

/** The name of the tool whose page has this address; null for any other address. */
export function toolOfPage(uri: string): string | null {
  if (!uri.startsWith(scheme)) return null;
  try {
    return decodeURIComponent(uri.slice(scheme.length));
  } catch {
    return null;
  }
}
