import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { ExplainRequest, ListedConfiguration } from '@sluice/client';
import { sluice } from './client.js';

const key = 'configurations';
/** So many of the versions on the log a page shows. */
export const shownVersions = 200;

/** A version of the configuration with its rules in words; `current` is the one in force. */
export const configurationQuery = (version = 'current') =>
  queryOptions({
    queryKey: [key, 'view', version],
    queryFn: ({ signal }) => sluice.configurations.get(version, {}, { signal }),
    staleTime: 15_000,
  });

export const matrixQuery = () =>
  queryOptions({
    queryKey: [key, 'matrix'],
    queryFn: ({ signal }) => sluice.configurations.matrix('current', { signal }),
    staleTime: 15_000,
  });

/** What is legal and worth knowing of the configuration in force: with lines, where the gateway has its file. */
export const findingsQuery = (text: string | null) =>
  queryOptions({
    queryKey: [key, 'findings', text],
    queryFn: async ({ signal }) => {
      if (text !== null) {
        const checked = await sluice.configurations.check({ text }, { signal });
        if (checked.ok) return checked;
      }
      return sluice.configurations.findings('current', { signal });
    },
    staleTime: 15_000,
  });

/** The newest versions on the log. */
export const versionsQuery = () =>
  queryOptions({
    queryKey: [key, 'versions'],
    queryFn: async ({ signal }): Promise<readonly ListedConfiguration[]> => {
      const page = await sluice.configurations.list({ limit: shownVersions }, { signal }).first();
      return page.items;
    },
  });

export const differencesQuery = (version: string, from: string | undefined) =>
  queryOptions({
    queryKey: [key, 'differences', version, from],
    queryFn: ({ signal }) => sluice.configurations.diff(version, from === undefined ? {} : { from }, { signal }),
    staleTime: 60_000,
  });

export const explanationQuery = (asked: ExplainRequest) =>
  queryOptions({
    queryKey: [key, 'explain', asked],
    queryFn: ({ signal }) => sluice.configurations.explain(asked, { signal }),
    placeholderData: keepPreviousData,
  });
