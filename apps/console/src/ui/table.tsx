import { useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useRef } from 'react';
import type { ReactNode } from 'react';
import css from './table.module.css';

export interface Column<Item> {
  readonly id: string;
  readonly name: ReactNode;
  readonly cell: (item: Item) => ReactNode;
  /** Of a CSS grid, such as `120px` or `minmax(0, 2fr)`; by default equal parts. */
  readonly width?: string;
  readonly isNumber?: boolean;
  /** Left out on narrow screens. */
  readonly isMinor?: boolean;
}

interface TableProps<Item> {
  /** Read aloud as the table’s name. */
  readonly label: string;
  readonly columns: readonly Column<Item>[];
  readonly items: readonly Item[];
  readonly keyOf: (item: Item) => string;
}

/** A table of some dozens of rows. */
export function Table<Item>({ label, columns, items, keyOf }: TableProps<Item>) {
  return (
    <div className={css['scroll']} tabIndex={0} role="region" aria-label={label}>
      <table className={css['table']}>
        <caption className="visually-hidden">{label}</caption>
        <thead>
          <tr>
            {columns.map(({ id, name, isNumber, isMinor }) => (
              <th key={id} scope="col" className={cellClass(isNumber, isMinor)}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={keyOf(item)}>
              {columns.map(({ id, cell, isNumber, isMinor }) => (
                <td key={id} className={cellClass(isNumber, isMinor)}>
                  {cell(item)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface LongTableProps<Item> extends TableProps<Item> {
  /** Called when the end of what is there comes into view. */
  readonly onEnd?: () => void;
  /** Below the last row: that more is on its way, or that this is all. */
  readonly end?: ReactNode;
}

const rowHeight = 41;

/** A table of any length, of which only the rows in view are drawn. It scrolls by itself and fills its place. */
export function LongTable<Item>({ label, columns, items, keyOf, onEnd, end }: LongTableProps<Item>) {
  const scroller = useRef<HTMLDivElement>(null);
  const keys = useRef(keyOf);
  keys.current = keyOf;
  // Another function would have the places of all rows counted again.
  const getItemKey = useCallback((n: number) => keys.current(items[n] as Item), [items]);
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey,
    overscan: 12,
  });
  const shown = rows.getVirtualItems();
  const last = shown.at(-1)?.index ?? -1;
  useEffect(() => {
    if (items.length > 0 && last >= items.length - 8) onEnd?.();
  }, [last, items.length, onEnd]);
  const template = { gridTemplateColumns: columns.map(({ width = 'minmax(0, 1fr)' }) => width).join(' ') };
  return (
    <div className={css['long']} ref={scroller} tabIndex={0} role="region" aria-label={label}>
      <div role="table" aria-label={label} aria-rowcount={items.length + 1}>
        <div role="row" className={`${css['longRow']} ${css['longHead']}`} style={template} aria-rowindex={1}>
          {columns.map(({ id, name, isNumber, isMinor }) => (
            <div key={id} role="columnheader" className={cellClass(isNumber, isMinor)}>
              {name}
            </div>
          ))}
        </div>
        <div role="rowgroup" className={css['longBody']} style={{ height: rows.getTotalSize() }}>
          {shown.map(({ index, key, start }) => (
            <div
              key={key}
              role="row"
              aria-rowindex={index + 2}
              className={css['longRow']}
              style={{ ...template, height: rowHeight, transform: `translateY(${start}px)` }}
            >
              {columns.map(({ id, cell, isNumber, isMinor }) => (
                <div key={id} role="cell" className={cellClass(isNumber, isMinor)}>
                  {cell(items[index] as Item)}
                </div>
              ))}
            </div>
          ))}
        </div>
      </div>
      {end !== undefined && <div className={css['end']}>{end}</div>}
    </div>
  );
}

function cellClass(isNumber = false, isMinor = false): string {
  return [isNumber ? css['number'] : '', isMinor ? css['minor'] : ''].join(' ').trim();
}
