/** What stands in an address, read with care: any page may have led here. */
type Search = Readonly<Record<string, unknown>>;

/** A text of at most 500 characters; undefined for anything else. */
export function text(search: Search, name: string): string | undefined {
  const value = search[name];
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value !== '' && value.length <= 500 ? value : undefined;
}

/** One of the names, or else the first. */
export function oneOf<Name extends string>(search: Search, name: string, names: readonly [Name, ...Name[]]): Name {
  return names.find((each) => each === search[name]) ?? names[0];
}

/** The texts of these names that are there. */
export function texts<Name extends string>(search: Search, names: readonly Name[]): { readonly [K in Name]?: string } {
  const found = names.map((name) => [name, text(search, name)] as const).filter(([, value]) => value !== undefined);
  return Object.fromEntries(found) as { readonly [K in Name]?: string };
}
