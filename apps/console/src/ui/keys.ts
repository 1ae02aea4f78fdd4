import { useEffect, useSyncExternalStore } from 'react';

/**
 * Keys of one letter, for pages that are worked through by keyboard. They can be switched off, since a voice or a
 * program may type letters by chance (WCAG 2.1.4); kept in this browser.
 */
const item = 'sluice-letter-keys';
const listeners = new Set<() => void>();

export function useLetterKeys(): readonly [boolean, (on: boolean) => void] {
  const isOn = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => localStorage.getItem(item) !== 'off',
  );
  return [isOn, set];
}

function set(on: boolean): void {
  localStorage.setItem(item, on ? 'on' : 'off');
  for (const listener of listeners) listener();
}

/** Acts by key, unless the person writes, a dialog is open, or a key of the system is held. */
export function useKeys(isOn: boolean, act: Readonly<Record<string, () => void>>): void {
  useEffect(() => {
    if (!isOn) return undefined;
    const pressed = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      const at = event.target instanceof Element ? event.target : null;
      if (at?.closest('input, textarea, select, [contenteditable], [role=dialog], [role=listbox], pre') != null) return;
      const action = act[event.key];
      if (action === undefined || document.querySelector('[role=dialog]') !== null) return;
      event.preventDefault();
      action();
    };
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  }, [isOn, act]);
}
