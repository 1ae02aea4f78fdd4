/** A line of npm’s on stderr; versions before 10 wrote `ERR!`. */
const npmLine = /^npm (?:error|ERR!) ?(.*)$/;
const outOfReach =
  /^(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT)$/;
const notForYou = /^E40[13]$/;

/**
 * What npm or npx says of a package that it could not start, in a sentence with the package’s name; null where the
 * lines are not npm’s. npm ends with where its log is, which says nothing.
 */
export function npmErrorIn(lines: readonly string[]): string | null {
  const said = lines
    .flatMap((line) => npmLine.exec(line)?.[1] ?? [])
    .filter((line) => !/complete log of this run/.test(line));
  const code = said.map((line) => /^code (\S+)$/.exec(line)?.[1]).find((found) => found !== undefined);
  if (code === undefined) return null;
  const text = said.join(' ');
  const wanted = /requested resource '((?:@[^'@]+)?[^'@]*)/.exec(text)?.[1] ?? null;
  const version = /No matching version found for (\S+?)\.?(?:\s|$)/.exec(text)?.[1];
  if (code === 'E404') return `npm has no package ${wanted ?? 'of this name'} that you may read: check its name`;
  if (version !== undefined) return `npm has no version ${version}: check the version`;
  if (notForYou.test(code)) return `npm’s registry does not let you read ${wanted ?? 'the package'} (${code})`;
  if (outOfReach.test(code)) return `npm cannot reach its registry (${code}), and the package is not in its cache`;
  const [why] = said.filter((line) => !line.startsWith('code ') && line.trim() !== '');
  return `npm ended with ${code}${why === undefined ? '' : `: ${why}`}`;
}
