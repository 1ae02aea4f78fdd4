import { Tab, TabList, TabPanel, Tabs as AriaTabs } from 'react-aria-components';
import { useEffect, useRef } from 'react';
import type { ReactNode } from 'react';
import css from './tabs.module.css';

interface TabOf<Id extends string> {
  readonly id: Id;
  readonly name: ReactNode;
  readonly content: () => ReactNode;
}

interface Props<Id extends string> {
  readonly label: string;
  readonly tabs: readonly TabOf<Id>[];
  readonly selected: Id;
  readonly onSelect: (id: Id) => void;
}

/** Parts of a page, one at a time; which one stands in the address, so the page holds it. */
export function Tabs<Id extends string>({ label, tabs, selected, onSelect }: Props<Id>) {
  const list = useRef<HTMLDivElement>(null);
  // On a narrow screen the list scrolls.
  useEffect(() => {
    const drawn = requestAnimationFrame(() => {
      list.current?.querySelector('[data-selected]')?.scrollIntoView?.({ block: 'nearest', inline: 'nearest' });
    });
    return () => cancelAnimationFrame(drawn);
  }, [selected]);
  return (
    <AriaTabs className={css['tabs'] ?? ''} selectedKey={selected} onSelectionChange={(key) => onSelect(key as Id)}>
      <TabList ref={list} aria-label={label} className={css['list'] ?? ''}>
        {tabs.map(({ id, name }) => (
          <Tab key={id} id={id} className={css['tab'] ?? ''}>
            {name}
          </Tab>
        ))}
      </TabList>
      {tabs.map(({ id, content }) => (
        <TabPanel key={id} id={id} className={css['panel'] ?? ''}>
          {id === selected ? content() : null}
        </TabPanel>
      ))}
    </AriaTabs>
  );
}
