/** @jest-environment ./test/infra/browser.mjs */
import { describe, expect, it } from '@jest/globals';
import { render, screen } from '@testing-library/react';
import { Json } from '../src/ui/json.js';
import { LongTable } from '../src/ui/table.js';

describe('The parts of pages', () => {
  it('shows what others wrote as text', () => {
    const { container } = render(<Json label="Arguments" value={{ html: '<img src=x onerror=alert(1)>' }} />);
    expect(container.querySelector('img')).toBeNull();
    expect(screen.getByRole('region', { name: 'Arguments' }).textContent).toContain('<img src=x onerror=alert(1)>');
  });

  it('draws of a long table the rows in view alone', () => {
    const items = Array.from({ length: 10_000 }, (_, n) => `Row ${n}`);
    render(
      <LongTable
        label="Rows"
        columns={[{ id: 'name', name: 'Name', cell: (item) => item }]}
        items={items}
        keyOf={(item) => item}
      />,
    );
    expect(screen.getByText('Row 3')).toBeTruthy();
    expect(screen.getAllByRole('row').length).toBeLessThan(60);
    expect(screen.getByRole('table', { name: 'Rows' }).getAttribute('aria-rowcount')).toBe('10001');
  });
});
