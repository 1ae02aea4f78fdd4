import type { Value } from './stores/store.js';

/** A page of a table: what is wanted of it, in the order of an index. */
export class Page {
  private readonly _where: string[] = [];
  private readonly values: Value[] = [];

  constructor(
    private readonly columns: string,
    private readonly from: string,
  ) {}

  where(condition: string, ...values: readonly Value[]): this {
    this._where.push(condition);
    this.values.push(...values);
    return this;
  }

  /** Only where a value is given. */
  is(column: string, value: string | number | undefined, comparison = '='): this {
    return value === undefined ? this : this.where(`${column} ${comparison} ?`, value);
  }

  select(order: string, limit: number): readonly [text: string, values: readonly Value[]] {
    const where = this._where.length === 0 ? '' : `WHERE ${this._where.join(' AND ')}`;
    return [`SELECT ${this.columns} FROM ${this.from} ${where} ORDER BY ${order} LIMIT ?`, [...this.values, limit]];
  }
}
