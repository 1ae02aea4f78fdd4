/** Numbers that are missing from a chain, as ranges; so many ranges at most, since memory is bounded. */
export class Ranges {
  private readonly ranges: { first: number; last: number }[] = [];

  constructor(private readonly most = 10_000) {}

  get list(): readonly { readonly first: number; readonly last: number }[] {
    return this.ranges;
  }

  /** False if there are too many: then it is not remembered. */
  add(first: number, last: number): boolean {
    if (this.ranges.length >= this.most) return false;
    this.ranges.push({ first, last });
    return true;
  }

  /** Takes a number out; false if it was not in. */
  take(number: number): boolean {
    const index = this.ranges.findIndex(({ first, last }) => first <= number && number <= last);
    const range = this.ranges[index];
    if (range === undefined) return false;
    const rest = [
      { first: range.first, last: number - 1 },
      { first: number + 1, last: range.last },
    ].filter(({ first, last }) => first <= last);
    this.ranges.splice(index, 1, ...rest);
    return true;
  }
}
