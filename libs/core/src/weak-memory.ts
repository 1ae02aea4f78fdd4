/**
 * Values made from objects, each kept as long as its object, up to a total weight: beyond it all are forgotten and
 * made again.
 */
export class WeakMemory<Of extends object, Made> {
  private made = new WeakMap<Of, Made>();
  private weight = 0;

  constructor(private readonly limit: number) {}

  find(of: Of): Made | undefined {
    return this.made.get(of);
  }

  keep(of: Of, made: Made, weight: number): Made {
    this.weight += weight;
    if (this.weight > this.limit) {
      this.made = new WeakMap();
      this.weight = weight;
    }
    this.made.set(of, made);
    return made;
  }
}
