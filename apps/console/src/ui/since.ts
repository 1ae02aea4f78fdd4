/** From when on, as filters of time have it; what the address has beside these is an option of its own. */
const known = [
  { value: '', label: 'All that is kept' },
  { value: '15m', label: 'Last 15 minutes' },
  { value: '1h', label: 'Last hour' },
  { value: '24h', label: 'Last 24 hours' },
  { value: '7d', label: 'Last 7 days' },
  { value: '30d', label: 'Last 30 days' },
];

export function sinceOptions(since = ''): readonly { readonly value: string; readonly label: string }[] {
  return known.some(({ value }) => value === since) ? known : [...known, { value: since, label: `Since ${since}` }];
}
