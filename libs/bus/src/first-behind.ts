/** The first offset to read behind the one that was read last. */
export function firstBehind(last: number | null, { beginning, end }: { beginning: number; end: number }): number {
  return last === null || last >= end ? beginning : last + 1;
}
