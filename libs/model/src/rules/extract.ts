import { isJsonObject } from '@sluice/core';
import { intentOf } from './intents.js';
import { inOneLine, jsonOf, labelOf, listed, rowsOf, wordsOfResult } from './observations.js';
import { wordsOf } from './words.js';

const maxSentences = 3;
const maxLength = 600;

/** A prompt is read up to here, in characters. */
const maxRead = 20_000;

/**
 * What a model without knowledge can honestly make of a prompt alone: its first statements, or what
 * a result quoted in it says. A prompt that only asks or
 * orders has none, and the answer says so.
 */
export function extractOf(prompt: string): string {
  const read = prompt.slice(0, maxRead);
  const body = read.replace(/^[^\n.:?!]{3,120}:\s+/, (order) => (intentOf(order) === undefined ? order : ''));
  const sentences = body.split(/(?<=[.!?])\s+|\n+/).map((sentence) => sentence.trim());
  const statements = sentences.filter((sentence) => isStatement(sentence)).slice(0, maxSentences);
  const data = read
    .split(/\n\s*\n/)
    .map((paragraph) => dataIn(paragraph))
    .find((text) => text !== undefined);
  if (data !== undefined) return cutAtWord(data);
  if (statements.length > 0) return cutAtWord(statements.join(' '));
  return (
    'I have no tools for this request, so I can only say that it asks: ' +
    `"${cutAtWord(read.trim())}". I am the built-in rule-based model and know nothing but what a prompt or a tool tells me.`
  );
}

/** A result in words: its own, or the names in its table, or the one thing it holds. */
function dataIn(paragraph: string): string | undefined {
  const value = jsonOf(paragraph);
  if (value === undefined || !(isJsonObject(value) || Array.isArray(value))) return undefined;
  const rows = rowsOf(value);
  const only = rows?.length === 1 ? rows[0] : undefined;
  const names = only === undefined ? rows?.flatMap((row) => labelOf(row) ?? []) : [inOneLine(only)];
  const said = wordsOfResult(value) ?? (names === undefined ? inOneLine(value) : listed(names));
  return said === '' ? undefined : said;
}

function isStatement(sentence: string): boolean {
  return !sentence.endsWith('?') && wordsOf(sentence).length >= 4 && intentOf(sentence) === undefined;
}

function cutAtWord(text: string): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength).replace(/\s+\S*$/, '')} …`;
}
