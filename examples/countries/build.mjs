// Writes the sample's knowledge graph: the world's countries as N-Triples. The data is the npm package world-countries
// (https://github.com/mledoze/countries), which is under the Open Database License 1.0; so is the file written here.
import { createRequire } from 'node:module';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const label = 'http://www.w3.org/2000/01/rdf-schema#label';
const altLabel = 'http://www.w3.org/2004/02/skos/core#altLabel';
const comment = 'http://www.w3.org/2000/01/rdf-schema#comment';
const type = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';
const xsd = 'http://www.w3.org/2001/XMLSchema#';
const country = 'urn:sluice:class:country';
const relation = (name) => `urn:sluice:relation:${name}`;

/** Each relation: what it is called, what else people call it, and what it means. */
const relations = {
  area: { others: ['size', 'surface'], means: 'Land and water, in square kilometres.' },
  borders: {
    others: ['neighbour', 'neighbor', 'adjacent to', 'shares a border with'],
    means: 'Countries with a common land border.',
  },
  capital: { others: ['capital city'], means: 'The seat of government.' },
  cca2: { others: ['country code', 'ISO code'], means: 'ISO 3166-1 code of two letters.' },
  cca3: { others: [], means: 'ISO 3166-1 code of three letters.' },
  currency: { others: ['money'], means: 'What is paid with.' },
  landlocked: { others: ['without a coast'], means: 'Whether the country has no coast.' },
  language: { others: ['speaks', 'spoken', 'official language'], means: 'Official languages.' },
  region: { others: ['continent'], means: 'Continent, as the United Nations divide the world.' },
  subregion: { others: [], means: 'Part of the continent.' },
};

/** Writes the file and says how many countries it holds. The same package gives the same bytes. */
export async function buildCountries(file) {
  const countries = createRequire(import.meta.url)('world-countries/countries.json');
  const byCode = new Map(countries.map((each) => [each.cca3, each]));
  const lines = [
    '# Countries of the world, from https://github.com/mledoze/countries, under the Open Database License (ODbL) 1.0.',
    ...vocabulary(),
    ...[...byCode.values()].sort((a, b) => (a.cca3 < b.cca3 ? -1 : 1)).flatMap((each) => facts(each, byCode)),
  ];
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${lines.join('\n')}\n`);
  return byCode.size;
}

function vocabulary() {
  const named = Object.entries(relations).flatMap(([name, { others, means }]) => [
    triple(relation(name), label, text(name)),
    ...others.map((other) => triple(relation(name), altLabel, text(other))),
    triple(relation(name), comment, text(means)),
  ]);
  return [
    triple(country, label, text('country')),
    triple(altLabel, label, text('alternative name')),
    triple(type, label, text('type')),
    ...named,
  ];
}

function facts(each, byCode) {
  const subject = iriOf(each.cca3);
  const name = each.name.common;
  const others = new Set([each.name.official, ...each.altSpellings].filter((other) => other !== name));
  const many = (key, values) => values.map((value) => triple(subject, relation(key), text(value)));
  return [
    triple(subject, type, `<${country}>`),
    triple(subject, label, text(name)),
    ...[...others].sort().map((other) => triple(subject, altLabel, text(other))),
    ...many('cca2', [each.cca2]),
    ...many('cca3', [each.cca3]),
    ...many(
      'capital',
      each.capital.filter((capital) => capital !== ''),
    ),
    ...many('region', [each.region]),
    ...many('subregion', each.subregion === '' ? [] : [each.subregion]),
    ...many('language', Object.values(each.languages).sort()),
    ...many(
      'currency',
      Object.values(each.currencies)
        .map((currency) => currency.name)
        .sort(),
    ),
    // The package writes -1 where it does not know.
    ...(each.area > 0 ? [triple(subject, relation('area'), `"${each.area}"^^<${xsd}decimal>`)] : []),
    triple(subject, relation('landlocked'), `"${each.landlocked}"^^<${xsd}boolean>`),
    ...each.borders
      .filter((code) => byCode.has(code))
      .sort()
      .map((code) => triple(subject, relation('borders'), `<${iriOf(code)}>`)),
  ];
}

function iriOf(code) {
  return `urn:sluice:entity:country:${code.toLowerCase()}`;
}

function triple(subject, predicate, object) {
  return `<${subject}> <${predicate}> ${object} .`;
}

function text(value) {
  return `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
}

if (import.meta.main) {
  const file = join(import.meta.dirname, 'countries.nt');
  console.log(`Wrote ${await buildCountries(file)} countries to ${file}.`);
}
