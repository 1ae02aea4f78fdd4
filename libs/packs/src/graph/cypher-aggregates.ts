import { ToolUserError } from '@sluice/core';
import type { Row } from './cypher-match.js';
import type { Value } from './cypher-sizes.js';
import type { Expression } from './cypher-syntax.js';
import { compare } from './cypher-values.js';
import { computed, isNumeric } from './integers.js';
import type { Numeric } from './integers.js';

const names = new Set(['count', 'collect', 'sum', 'avg', 'min', 'max']);

export function isAggregate(name: string): boolean {
  return names.has(name);
}

/** Whether an aggregate stands in the expression. */
export function aggregates(expression: Expression): boolean {
  switch (expression.is) {
    case 'call':
      return names.has(expression.name) || expression.args.some((each) => aggregates(each));
    case 'apply':
      return expression.args.some((each) => aggregates(each));
    case 'property':
    case 'labels':
      return aggregates(expression.of);
    case 'list':
      return expression.items.some((each) => aggregates(each));
    case 'name':
    case 'parameter':
    case 'pattern':
    case 'value':
      return false;
  }
}

/** What an aggregate makes of the rows of a group. `keyOf` gives one text for equal values. */
export function aggregated(
  { name, args, distinct, star }: Extract<Expression, { is: 'call' }>,
  group: readonly Row[] | undefined,
  value: (expression: Expression, row: Row) => Value,
  keyOf: (values: readonly Value[]) => string,
): Value {
  if (group === undefined)
    throw new ToolUserError(`${name}() stands where nothing is grouped; it may stand in WITH and RETURN.`);
  if (star) return group.length;
  const [argument] = args;
  if (argument === undefined) throw new ToolUserError(`${name}() needs an argument.`);
  let values = group.map((each) => value(argument, each)).filter((each) => each !== null && each !== undefined);
  if (distinct) values = [...new Map(values.map((each) => [keyOf([each]), each])).values()];
  const numbers = values.filter(isNumeric);
  switch (name) {
    case 'count':
      return values.length;
    case 'collect':
      return values;
    case 'sum':
      return sum(numbers);
    case 'avg':
      return numbers.length === 0 ? null : computed('/', sum(numbers), numbers.length);
    default: {
      const sorted = [...values].sort(compare);
      return (name === 'min' ? sorted[0] : sorted.at(-1)) ?? null;
    }
  }
}

function sum(numbers: readonly Numeric[]): Numeric {
  return numbers.reduce<Numeric>((total, each) => computed('+', total, each) ?? total, 0);
}
