// Resolves a list of cases with the published SDK. Reads them as JSON from the
// file named first, writes the answers to the second. Run by the differential
// test of package settings.
import fs from 'node:fs';
import path from 'node:path';
import { resolveSettings } from '@anthropic-ai/claude-agent-sdk';

// The managed files can only stand in one place; the caller hides the machine's
// own behind a mount namespace.
const managedDir = '/etc/claude-code';

const answers = [];
for (const c of JSON.parse(fs.readFileSync(process.argv[2]))) {
  process.env.HOME = c.home;
  process.env.CLAUDE_CONFIG_DIR = c.config;
  if (process.env.SETTINGS_ORACLE_ETC) {
    fs.rmSync(managedDir, { recursive: true, force: true });
    fs.mkdirSync(path.join(managedDir, 'managed-settings.d'), { recursive: true });
    for (const [name, text] of Object.entries(c.managedFiles ?? {})) fs.writeFileSync(path.join(managedDir, name), text);
  }
  const options = { cwd: c.start };
  if (c.sources) options.settingSources = c.sources;
  if (c.managed) options.serverManagedSettings = c.managed;
  const { effective, sources } = await resolveSettings(options);
  answers.push({ effective, sources: sources.map(({ source, path }) => ({ source, path })) });
}
fs.writeFileSync(process.argv[3], JSON.stringify(answers));
