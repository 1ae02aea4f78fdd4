import { stemmer } from 'stemmer';

/**
 * Words that people and descriptions use for much the same, one group a line: the verbs of tools, kinds of files with
 * their endings, and everyday nouns. A word may be in several groups. They belong to no product and to no server.
 */
const groups = `
add append insert
analyze analyse analysis examine inspect
attach attachment
book reserve reservation
buy purchase order shop shopping
calculate compute calculation calculator estimate arithmetic
call phone ring
cancel abort stop terminate
change update edit modify adjust
chart graph plot diagram
close finish complete
code source program
compare comparison difference diff versus
company business firm
convert transform conversion
copy duplicate clone
count number amount quantity
create make generate compose draw
currency money exchange
customer client
database sql table
date day calendar time
delete remove erase drop
directory folder
document doc docx word
email mail message
error failure fault exception
excel xlsx spreadsheet csv
find search lookup discover browse seek query
film movie
fix repair mend
flight plane airline
get fetch retrieve obtain show view display list
health medical
hotel accommodation lodging
image picture photo png jpg
issue ticket bug
job career vacancy
law legal
location place address
markdown md
meeting appointment event
merge combine join concatenate
move rename
music song audio
news headlines article trending
open load read
person people user contact
presentation powerpoint pptx slides
price cost value
recommend suggest recommendation suggestion
repository repo
run execute launch start
schedule plan
send post submit
share stock
software application app
summarize summary summarise
today now current
translate translation
travel trip journey
video youtube
weather forecast temperature
website site url page web
write save store export
`;

/** The stems that are related to each stem. */
const related: ReadonlyMap<string, ReadonlySet<string>> = relatedStems();

function relatedStems(): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const line of groups.trim().split('\n')) {
    const stems = new Set(line.split(' ').map((word) => stemmer(word)));
    for (const stem of stems) {
      const own = found.get(stem) ?? new Set<string>();
      for (const other of stems) if (other !== stem) own.add(other);
      found.set(stem, own);
    }
  }
  return found;
}

const none: ReadonlySet<string> = new Set();

/** Stems that mean much the same as this one. */
export function relatedTo(stem: string): ReadonlySet<string> {
  return related.get(stem) ?? none;
}
