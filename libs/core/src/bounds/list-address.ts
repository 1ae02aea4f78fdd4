/** Whose list is read. */
export interface ListCaller {
  readonly tenant: string;
  readonly user: string;
  readonly claims: Readonly<Record<string, readonly string[]>>;
}

const placeholders = /\{([^{}]*)\}/g;

/** What stands in braces in the address of a list. */
export function placeholdersIn(url: string): readonly string[] {
  return [...url.matchAll(placeholders)].map(([, name = '']) => name);
}

/** The claims that the address of a list names. */
export function claimsInAddress(url: string): readonly string[] {
  return placeholdersIn(url).flatMap((name) => claimIn(name) ?? []);
}

/** Whether a placeholder is one that a caller has a value for. */
export function isPlaceholder(name: string): boolean {
  return name === 'tenant' || name === 'user' || claimIn(name) !== null;
}

/**
 * The address for this caller, whose values become parts of it and never more: null where one of them is not known, or
 * is none that can stand in an address.
 */
export function listAddress(url: string, caller: ListCaller): string | null {
  let isWhole = true;
  const address = url.replace(placeholders, (_, name: string) => {
    const value = valueAt(name, caller);
    // A server reads these two as other places of its own.
    if (value === null || value === '' || value === '.' || value === '..' || !value.isWellFormed()) isWhole = false;
    return isWhole ? encodeURIComponent(value ?? '') : '';
  });
  return isWhole ? address : null;
}

function valueAt(name: string, { tenant, user, claims }: ListCaller): string | null {
  if (name === 'tenant') return tenant;
  if (name === 'user') return user;
  const claim = claimIn(name) ?? '';
  const values = Object.hasOwn(claims, claim) ? (claims[claim] ?? []) : [];
  return values.length === 1 ? (values[0] ?? null) : null;
}

function claimIn(name: string): string | null {
  return /^claims\..+$/.test(name) ? name.slice('claims.'.length) : null;
}
