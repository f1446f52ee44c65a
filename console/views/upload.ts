import type { Balance, Job } from '../../sdk/src/wire.ts';
import { get, upload } from '../api.ts';
import type { View } from '../app.ts';
import { form } from '../controls.ts';
import { field, fill, h, select } from '../dom.ts';
import { byteSize } from '../format.ts';

/** A form that creates a job from a file. */
export const showUpload: View = async (main, _place, signal) => {
  const { plan } = await get<Balance>('/v1/balance');
  const file = fileField();
  const bar = h('progress', { max: 1, value: 0, hidden: true, 'aria-label': 'Upload' });
  const plans: [string, string][] =
    plan === 'pro'
      ? [
          ['pro', 'pro'],
          ['lite', 'lite'],
        ]
      : [['lite', 'lite']];
  const fields = [
    file.element,
    h(
      'div',
      { class: 'columns' },
      field('Plan', select('plan', plans)),
      field(
        'Language',
        h('input', { name: 'language', placeholder: 'en', maxlength: 35, size: 8 }),
        'Empty: detected where the model can.',
      ),
      field(
        'Times',
        select('timestamps', [
          ['segment', 'of segments'],
          ['word', 'of words'],
        ]),
      ),
    ),
    field(
      'Metadata',
      h('textarea', { name: 'metadata', rows: 3, spellcheck: 'false', placeholder: '{"order": 42}' }),
      'JSON, at most 4 KB. It comes back unchanged.',
    ),
    bar,
  ];
  const submit = async (given: FormData) => {
    bar.hidden = false;
    const body = formOf(given, file.chosen());
    const job = await upload<Job>('/v1/transcribe', body, (part) => (bar.value = part), signal).finally(() => {
      bar.hidden = true;
    });
    location.hash = `#/jobs/${job.id}`;
  };
  fill(
    main,
    h('h1', {}, 'Transcribe a file'),
    h('div', { class: 'card' }, form('Transcribe a file', fields, 'Transcribe', submit)),
  );
};

/** The fields precede the file, so that the service refuses a wrong field before the file is sent. */
function formOf(given: FormData, file: File): FormData {
  const body = new FormData();
  body.append('async', 'true');
  for (const name of ['plan', 'language', 'timestamps', 'metadata']) {
    const value = String(given.get(name) ?? '').trim();
    if (value !== '') body.append(name, value);
  }
  body.append('file', file, file.name);
  return body;
}

function fileField() {
  const input = h('input', { type: 'file', accept: 'audio/*,video/*,.opus,.flac,.mka,.mkv', required: true });
  const label = h('span', {}, 'Drop an audio or video file here, or choose one');
  const showFile = () => {
    const [file] = input.files ?? [];
    if (file) fill(label, h('strong', {}, file.name), ` ${byteSize(file.size)}`);
  };
  input.addEventListener('change', showFile);
  const element = h('label', { class: 'drop' }, label, input);
  for (const name of ['dragover', 'dragleave', 'drop']) {
    element.addEventListener(name, (event) => {
      event.preventDefault();
      element.classList.toggle('over', name === 'dragover');
    });
  }
  element.addEventListener('drop', ({ dataTransfer }) => {
    if (!dataTransfer?.files.length) return;
    input.files = dataTransfer.files;
    showFile();
  });
  return { element, chosen: () => input.files![0]! };
}
