/** A database that holds claims beside that of DATABASE_URL. */
export interface ClaimDatabase {
  /** By which claims are placed. It is no part of it who connects, so that a new password moves nothing. */
  readonly name: string;
  readonly url: string;
}

/** Messages are without what stands there: there are passwords in it. */
export function readClaimDatabases(text: string | undefined, databaseUrl: string | null): readonly ClaimDatabase[] {
  const words = (text ?? '').split(/\s+/).filter((word) => word !== '');
  if (words.length > 0 && databaseUrl === null)
    throw new Error(
      'SLUICE_LEDGER names databases that hold claims beside that of DATABASE_URL, which is not set. Set it too.',
    );
  const taken = new Map(databaseUrl === null ? [] : [[placeOf(databaseUrl), 'DATABASE_URL names too']]);
  return words.map((word, index) => {
    const { label, url = '' } = /^(?:(?<label>[\w.-]{1,64})=)?(?<url>postgres(?:ql)?:\/\/.*)$/.exec(word)?.groups ?? {};
    const entry = `SLUICE_LEDGER: entry ${index + 1}`;
    if (!URL.canParse(url) || label === 'first')
      throw new Error(
        `${entry} is no address of a PostgreSQL; it must be like postgres://user:password@host:5432/claims or b=postgres://…, with whitespace between entries; “first” is no name for one.`,
      );
    const place = placeOf(url);
    const name = label ?? place;
    for (const one of new Set([place, name])) {
      const by = taken.get(one);
      if (by !== undefined) throw new Error(`${entry} is what ${by}. Name each database once.`);
      taken.set(one, `entry ${index + 1} names too`);
    }
    return { name, url };
  });
}

function placeOf(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `${hostname}:${port || '5432'}${pathname}`;
}
