import { useSyncExternalStore } from 'react';

/** There is room beside the timeline. */
const query = '(min-width: 1280px)';

export function useIsWide(): boolean {
  return useSyncExternalStore(
    (listener) => {
      const media = window.matchMedia(query);
      media.addEventListener('change', listener);
      return () => media.removeEventListener('change', listener);
    },
    () => window.matchMedia(query).matches,
  );
}
