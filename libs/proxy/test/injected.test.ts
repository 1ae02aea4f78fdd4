import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { injectedBeginnings, injectedTags, personHeadings, personTags, withoutInjected } from '@sluice/proxy';

const page = readFileSync(new URL('../../../docs/discovery.md', import.meta.url), 'utf8');
const tags = Object.values(injectedTags).flat();

describe('what clients put into the messages of their users', () => {
  it.each(tags)('is left out: <%s>', (tag) => {
    expect(withoutInjected(`Before <${tag}>secret\n<b>words</b></${tag}>\nbehind`)).toBe('Before \nbehind');
    expect(withoutInjected(`<${tag} source="x">secret</${tag}>`)).toBe('');
    expect(withoutInjected(`<${tag}>one</${tag}>Hi<${tag}>two</${tag}>`)).toBe('Hi');
  });

  it.each(personTags)('is what stands around <%s>', (tag) => {
    expect(withoutInjected(`Today is Friday.\n<${tag}>\nSend it\n</${tag}>\n<user_info>x</user_info>`)).toBe('Send it');
  });

  it.each(personHeadings)('is what stands before %s', (heading) => {
    expect(withoutInjected(`# Context from my IDE setup:\n- a.ts\n\n${heading}\nSend it`)).toBe('Send it');
  });

  it.each(injectedBeginnings)('is a text that begins with $text', ({ text, goes }) => {
    expect(withoutInjected(`\n${text} and more\nSend it`)).toBe(goes === 'all' ? '' : 'Send it');
  });

  it('are the project’s instructions of Codex with their heading', () => {
    const text = '# AGENTS.md instructions for /home/me\n\n<INSTRUCTIONS>\nUse tabs\n</INSTRUCTIONS>';
    expect(withoutInjected(text)).toBe('');
  });

  it.each([
    'What does <system-reminder> do?',
    'Explain `</system-reminder>` and <div>',
    'Compare # AGENTS.md instructions with mine',
    '<context>My notes</context> Summarise them',
    '',
  ])('is not what a person wrote: %s', (text) => {
    expect(withoutInjected(text)).toBe(text);
  });

  it('leaves what the person wrote where the tags around it are empty', () => {
    expect(withoutInjected('<command-name>/go</command-name><command-args></command-args> Do it')).toContain('Do it');
  });

  it('is found in time that grows with the text alone', () => {
    const many = '<system-reminder>'.repeat(300_000);
    expect(withoutInjected(many)).toBe(many);
    expect(withoutInjected(`${'<user_info>x</user_info>'.repeat(200_000)}Hi`)).toBe('Hi');
  }, 20_000);

  it.each([...tags, ...personTags, ...personHeadings])('is in the documentation: %s', (form) => {
    expect(page).toContain(`\`${form}\``);
  });
});
