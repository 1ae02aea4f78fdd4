/** Texts to the left, numbers to the right. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0))) ?? [];
  return rows
    .map((row, line) =>
      row
        .map((cell, at) => {
          const isText = (rows[line === 0 ? 1 : line]?.[at] ?? '').match(/^[\d,.]+( %)?$/) === null;
          return isText ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0);
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
    .concat('\n');
}
