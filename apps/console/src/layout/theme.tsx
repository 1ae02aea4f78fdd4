import { useEffect, useState } from 'react';
import { Button } from '../ui/button.js';

type Theme = 'system' | 'light' | 'dark';

const next: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' };
const names: Readonly<Record<Theme, string>> = { system: 'System', light: 'Light', dark: 'Dark' };
const item = 'sluice-theme';

/** Light, dark, or as the system is; kept in this browser. */
export function ThemeButton() {
  const [theme, setTheme] = useState<Theme>(() => {
    const kept = localStorage.getItem(item);
    return kept === 'light' || kept === 'dark' ? kept : 'system';
  });
  useEffect(() => {
    if (theme === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = theme;
    localStorage.setItem(item, theme);
  }, [theme]);
  return (
    <Button isSmall aria-label={`Theme: ${names[theme]}`} onPress={() => setTheme(next[theme])}>
      {names[theme]}
    </Button>
  );
}
