// Adds a summary by a language model of yours to the metadata of each job. See README.md in this folder.
import http from 'node:http';
// In your own project: '@verbatim/sdk'.
import { expressHandler, Verbatim } from '../../sdk/src/index.ts';

const { VERBATIM_WEBHOOK_SECRET: secret, PORT = '8080' } = process.env;
const { LLM_URL = 'http://127.0.0.1:11434/v1', LLM_MODEL = 'llama3.2', LLM_API_KEY = 'none' } = process.env;
const TASK = 'Summarize this transcript in at most three sentences, in its own language.';
// Metadata has at most 4 KB.
const MAX_LENGTH = 1000;
const verbatim = new Verbatim();

async function summaryOf(text) {
  const response = await fetch(`${LLM_URL}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${LLM_API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: LLM_MODEL,
      messages: [
        { role: 'system', content: TASK },
        { role: 'user', content: text },
      ],
    }),
  });
  if (!response.ok) throw new Error(`the model answered ${response.status}: ${await response.text()}`);
  const { choices } = await response.json();
  return choices[0].message.content.trim().slice(0, MAX_LENGTH);
}

async function summarize({ data }) {
  const { id, text, metadata } = await verbatim.jobs.get(data.job.id);
  // A delivery that waited too long for the model is sent again.
  if (metadata?.summary || !text) return;
  await verbatim.jobs.update(id, { metadata: { ...metadata, summary: await summaryOf(text) } });
  console.log(`${id} has a summary`);
}

const receive = expressHandler({ secret, on: { 'transcription.completed': summarize } });
const server = http.createServer(receive).listen(Number(PORT), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
