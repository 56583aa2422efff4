// Asks the published SDK which values make the client drop a whole settings
// file, and prints settings/schema_table.go.
//
// The type declarations name the keys; for each of them a file with a value of
// every kind at that place is resolved, and a file that is dropped takes a
// marker key with it. Run by scripts/differential-settings --write-schema.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import ts from 'typescript';
import { resolveSettings } from '@anthropic-ai/claude-agent-sdk';

const sdk = path.join(process.cwd(), 'node_modules/@anthropic-ai/claude-agent-sdk');
const version = JSON.parse(fs.readFileSync(path.join(sdk, 'package.json'))).version;
const program = ts.createProgram([path.join(sdk, 'sdk.d.ts')], { skipLibCheck: true, strict: true });
const checker = program.getTypeChecker();

let settings;
for (const file of program.getSourceFiles()) {
  if (!file.fileName.endsWith('claude-agent-sdk/sdk.d.ts')) continue;
  file.forEachChild((node) => {
    if (ts.isInterfaceDeclaration(node) && node.name.text === 'Settings') settings = checker.getTypeAtLocation(node);
  });
}

// shape reduces a type to what the probes need.
function shape(type) {
  const out = { kinds: new Set(), literals: [], objects: 0 };
  for (const part of type.isUnion() ? type.types : [type]) {
    if (part.flags & ts.TypeFlags.Undefined) continue;
    if (part.flags & ts.TypeFlags.BooleanLike) out.kinds.add('b');
    else if (part.isStringLiteral()) { out.kinds.add('s'); out.literals.push(part.value); }
    else if (part.flags & ts.TypeFlags.StringLike) out.kinds.add('s');
    else if (part.flags & ts.TypeFlags.NumberLike) out.kinds.add('d');
    else if (part.flags & (ts.TypeFlags.Unknown | ts.TypeFlags.Any)) out.kinds.add('any');
    else if (checker.isArrayType(part) || checker.isTupleType(part)) {
      out.kinds.add('a');
      out.element = shape(checker.getTypeArguments(part)[0]);
    } else {
      out.kinds.add('o');
      if (out.objects++) continue;
      out.members = part.getProperties().map((p) => ({
        name: p.name, optional: !!(p.flags & ts.SymbolFlags.Optional), shape: shape(checker.getTypeOfSymbol(p)),
      }));
      const index = checker.getIndexInfoOfType(part, ts.IndexKind.String);
      if (index) out.any = shape(index.type);
    }
  }
  return out;
}

// example is a small valid value.
function example(s) {
  if (s.literals.length) return s.literals[0];
  if (s.kinds.has('any')) return 'x';
  if (s.kinds.has('b')) return true;
  if (s.kinds.has('s')) return 'x';
  if (s.kinds.has('d')) return 1;
  if (s.kinds.has('a')) return [example(s.element)];
  const value = {};
  for (const m of s.members) if (!m.optional) value[m.name] = example(m.shape);
  return value;
}

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'schema-'));
process.env.HOME = home;
process.env.CLAUDE_CONFIG_DIR = path.join(home, 'user');
fs.mkdirSync(process.env.CLAUDE_CONFIG_DIR);

// The marker tells whether the file was taken. It is not in the sandbox object,
// which is under test itself.
const marker = 'verbose';
async function taken(document) {
  fs.writeFileSync(path.join(process.env.CLAUDE_CONFIG_DIR, 'settings.json'), JSON.stringify({ [marker]: true, ...document }));
  const { effective } = await resolveSettings({ cwd: home, settingSources: ['user'] });
  return effective[marker] === true;
}

// put wraps a value in the containers that lead to it, each filled with what it
// requires.
function put(steps, value) {
  for (let i = steps.length - 1; i >= 0; i--) {
    const { shape: owner, name } = steps[i];
    if (name === '[]') { value = [value]; continue; }
    const container = steps[i].fresh ? {} : example(owner);
    value = { ...(typeof container === 'object' && !Array.isArray(container) ? container : {}), [name === '*' ? 'k' : name]: value };
  }
  return value;
}

const samples = {
  n: null, b: true, s: 'zzz', empty: '', d: 7, negative: -1, zero: 0, fraction: 0.5, big: 1e12, a: [], o: {},
};
const table = new Map(); // spec -> paths
const unsure = [];

async function spec(where, s, steps) {
  const ok = {};
  for (const [name, value] of Object.entries(samples)) ok[name] = await taken(put(steps, value));
  let literals = [];
  if (s.literals.length && !ok.s) {
    literals = [...s.literals];
    if (where === 'permissions.defaultMode') literals.push('manual');
    for (const l of literals) if (!await taken(put(steps, l))) unsure.push(`${where}: literal ${l} refused`);
  }
  let required = [];
  if (s.kinds.has('o') && !ok.o && s.members) {
    required = s.members.filter((m) => !m.optional).map((m) => m.name);
    if (required.length && !await taken(put(steps, example(s)))) {
      // Its members have forms that a made-up value does not meet.
      unsure.push(`${where}: example refused, members not probed`);
      return { out: 'o', leaf: true };
    }
  }
  const numbers = ok.d || ok.fraction || ok.big || ok.zero;
  let out = '';
  if (ok.n) out += 'n';
  if (ok.b) out += 'b';
  if (ok.s || literals.length || (s.kinds.has('s') && !s.literals.length)) {
    if (!ok.s && !literals.length) unsure.push(`${where}: text of some form`);
    out += 's' + (ok.empty || literals.length ? '' : '!');
  }
  if (numbers) out += 'd' + (ok.negative ? '' : ok.zero ? '+' : 'p') + (ok.fraction ? '' : 'i') + (ok.big ? '' : 'u');
  if (ok.a) out += 'a';
  if (ok.o || required.length) out += 'o';
  if (literals.length) out += '=' + literals.sort().join('|');
  if (required.length) out += ':' + required.sort().join(',');
  return { out, any: Object.values(ok).every(Boolean) };
}

async function walk(where, s, steps, depth) {
  if (where === 'hooks' || where === marker && depth > 1) return;
  if (where) {
    const { out, any, leaf } = await spec(where, s, steps);
    if (any || !out) return; // nothing at or below it is known to drop the file
    if (!table.has(out)) table.set(out, []);
    table.get(out).push(where);
    if (leaf) return;
  }
  if (depth > 7) return;
  if (s.members && s.objects === 1) {
    for (const m of s.members) {
      await walk(where ? `${where}.${m.name}` : m.name, m.shape, [...steps, { shape: s, name: m.name, fresh: !where }], depth + 1);
    }
  }
  if (s.any && where && s.objects === 1) await walk(`${where}.*`, s.any, [...steps, { shape: s, name: '*' }], depth + 1);
  if (s.element) await walk(`${where}[]`, s.element, [...steps, { shape: s, name: '[]' }], depth + 1);
}

await walk('', shape(settings), [], 0);
fs.rmSync(home, { recursive: true });

const lines = [];
for (const [out, paths] of [...table].sort(([a], [b]) => (a < b ? -1 : 1))) {
  lines.push('\tcase ' + paths.sort().map((p) => JSON.stringify(p)).join(',\n\t\t') + ':', `\t\treturn ${JSON.stringify(out)}`);
}
process.stdout.write(`// Code generated by scripts/differential-settings --write-schema; DO NOT EDIT.

package settings

// schemaVersion is the client whose schema the table holds.
const schemaVersion = "2.1.${version.split('.')[2]}"

// schemaSpec returns what the client's schema accepts at a path, as far as a
// wrong value makes it drop the whole file; empty where nothing does. See [spec]
// for the notation.
func schemaSpec(path string) string {
	switch path {
${lines.join('\n')}
	}
	return ""
}
`);
for (const line of unsure) process.stderr.write(line + '\n');
