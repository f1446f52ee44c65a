#!/usr/bin/env bash
# A WAV file of three channels that names no loudspeakers, as field recorders write them, with sound on the third one
# only. ffmpeg guesses the layout 2.1, takes the third channel for the subwoofer, and leaves it out of the mix.
# The channel by its number is there. (imageio-ffmpeg 0.6.0, which holds ffmpeg 7.0.2; the same with Debian's 5.1.)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv packages
packages/bin/pip install -q --disable-pip-version-check imageio-ffmpeg==0.6.0
ffmpeg=$(packages/bin/python -c "import imageio_ffmpeg; print(imageio_ffmpeg.get_ffmpeg_exe())")
"$ffmpeg" -version | head -n 1

python3 - <<'PYTHON'
import array, math, wave
file = wave.open('three.wav', 'wb')
file.setnchannels(3), file.setsampwidth(2), file.setframerate(16000)
tone = [int(12000 * math.sin(at / 5)) for at in range(16000)]
file.writeframes(array.array('h', [sample for value in tone for sample in (0, 0, value)]).tobytes())
PYTHON
peak() { python3 -c "import array, sys; print(max(map(abs, array.array('h', sys.stdin.buffer.read()))))"; }
mono=$("$ffmpeg" -v error -i three.wav -ac 1 -f s16le - | peak)
stereo=$("$ffmpeg" -v error -i three.wav -ac 2 -f s16le - | peak)
third=$("$ffmpeg" -v error -i three.wav -af 'pan=mono|c0=c2' -f s16le - | peak)
echo "peak of the mono mix: $mono, of the stereo mix: $stereo, of the third channel: $third"
[ "$mono $stereo $third" = '0 0 11999' ]
