// Resolves a list of cases with the published SDK. Reads them as JSON from the
// file named first, writes the answers to the second. Run by the differential
// test of package settings.
import fs from 'node:fs';
import { resolveSettings } from '@anthropic-ai/claude-agent-sdk';

const answers = [];
for (const c of JSON.parse(fs.readFileSync(process.argv[2]))) {
  process.env.HOME = c.home;
  process.env.CLAUDE_CONFIG_DIR = c.config;
  const options = { cwd: c.start };
  if (c.sources) options.settingSources = c.sources;
  if (c.managed) options.serverManagedSettings = c.managed;
  const { effective, sources } = await resolveSettings(options);
  answers.push({ effective, sources: sources.map(({ source, path }) => ({ source, path })) });
}
fs.writeFileSync(process.argv[3], JSON.stringify(answers));
