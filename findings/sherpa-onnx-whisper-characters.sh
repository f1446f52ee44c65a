#!/usr/bin/env bash
# Whisper writes characters that are rare in its vocabulary as several tokens of one or two bytes each, such as many of
# Chinese, Japanese and Korean. sherpa-onnx removes the bytes of each token that are no whole characters before it joins
# the tokens: these characters are missing in `text`, without an error.
# The model here is a few hundred bytes: whatever it hears, its tokens are " a", E8 A6 and B3, which are " a観".
# (sherpa-onnx 1.13.8, onnx 1.19.1.)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv packages
packages/bin/pip install -q --disable-pip-version-check sherpa-onnx==1.13.8 onnx==1.19.1 numpy
packages/bin/python -c "import importlib.metadata as m; print('sherpa-onnx', m.version('sherpa-onnx'))"

cat >make.py <<'PYTHON'
import base64
import numpy as np
import onnx
from onnx import TensorProto, helper

SPOKEN = [b' a', b'\xe8\xa6', b'\xb3']
NAMES = [*SPOKEN, b'EOT', b'SOT', b'EN', b'TRANSLATE', b'TRANSCRIBE', b'NOSPEECH', b'NOTIMES']
ids = {name.decode('latin1'): index for index, name in enumerate(NAMES)}
size = len(NAMES)
rows = np.zeros((size, size), np.float32)
for before, after in zip([ids['TRANSCRIBE'], 0, 1, 2], [0, 1, 2, ids['EOT']]):
    rows[before, after] = 10


def port(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def write(file, nodes, inputs, outputs, constants, metadata):
    graph = helper.make_graph(nodes, 'graph', inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8)
    helper.set_model_props(model, metadata)
    onnx.save(model, file)


one = [1, 1, 1, 1]
names = 'n_audio_ctx n_audio_state n_audio_head n_audio_layer n_text_state n_text_head n_text_layer'.split()
metadata = {name: '1' for name in names} | {
    'model_type': 'whisper-tiny', 'version': '1', 'maintainer': 'test', 'n_mels': '80', 'n_vocab': str(size),
    'n_text_ctx': '448', 'is_multilingual': '1', 'sot': str(ids['SOT']), 'eot': str(ids['EOT']),
    'blank_id': str(ids['NOSPEECH']), 'no_speech': str(ids['NOSPEECH']), 'translate': str(ids['TRANSLATE']),
    'transcribe': str(ids['TRANSCRIBE']), 'no_timestamps': str(ids['NOTIMES']), 'sot_index': '0',
    'sot_prev': str(ids['SOT']), 'sot_lm': str(ids['SOT']), 'non_speech_tokens': '',
    'sot_sequence': ','.join(str(ids[name]) for name in ('SOT', 'EN', 'TRANSCRIBE')),
    'all_language_tokens': str(ids['EN']), 'all_language_codes': 'en',
}
write('encoder.onnx',
      [helper.make_node('Identity', ['cross'], [f'n_layer_cross_{name}']) for name in 'kv'],
      [port('mel', [1, 80, 'T'])], [port(f'n_layer_cross_{name}', one) for name in 'kv'],
      [helper.make_tensor('cross', TensorProto.FLOAT, one, [0.0])], metadata)
write('decoder.onnx',
      [helper.make_node('Gather', ['rows', 'tokens'], ['gathered'], axis=0),
       helper.make_node('ReduceSum', ['gathered', 'axis'], ['logits'], keepdims=1),
       helper.make_node('Identity', ['self_k'], ['out_self_k']), helper.make_node('Identity', ['self_v'], ['out_self_v'])],
      [port('tokens', [1, 'N'], TensorProto.INT64), port('self_k', [1, 1, 'C', 1]), port('self_v', [1, 1, 'C', 1]),
       port('cross_k', one), port('cross_v', one), port('offset', [1], TensorProto.INT64)],
      [port('logits', [1, 1, size]), port('out_self_k', [1, 1, 'C', 1]), port('out_self_v', [1, 1, 'C', 1])],
      [onnx.numpy_helper.from_array(rows, 'rows'), helper.make_tensor('axis', TensorProto.INT64, [1], [1])], {})
with open('tokens.txt', 'w') as file:
    file.writelines(f'{base64.b64encode(name).decode()} {index}\n' for index, name in enumerate(NAMES))
PYTHON
packages/bin/python make.py

packages/bin/python - <<'PYTHON'
import numpy as np
import sherpa_onnx

recognizer = sherpa_onnx.OfflineRecognizer.from_whisper(
    encoder='encoder.onnx', decoder='decoder.onnx', tokens='tokens.txt', language='en', num_threads=1)
stream = recognizer.create_stream()
stream.accept_waveform(16000, np.zeros(32000, np.float32))
recognizer.decode_stream(stream)
print('the tokens are " a観", the text is', repr(stream.result.text), 'with the tokens', stream.result.tokens)
assert stream.result.text.strip() == 'a', 'the finding is out of date'
PYTHON
