#!/usr/bin/env bash
# AMR, as telephones and voicemail write it, sends no speech in pauses: a frame of one byte (NO_DATA, type 15 of RFC 4867)
# stands for 20 ms. A file of 1 s of speech frames and 4 s of such frames lasts 5 s. ffmpeg's decoder has no
# discontinuous transmission: the pause is missing in the output, and ffmpeg ends with 0.
# (imageio-ffmpeg 0.6.0, which holds ffmpeg 7.0.2; Debian's 5.1 ends with 69 here, as more than two thirds are errors.)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv packages
packages/bin/pip install -q --disable-pip-version-check imageio-ffmpeg==0.6.0
ffmpeg=$(packages/bin/python -c "import imageio_ffmpeg; print(imageio_ffmpeg.get_ffmpeg_exe())")
"$ffmpeg" -version | head -n 1

python3 - <<'PYTHON'
speech = bytes([0x04]) + bytes(12)  # type 0, 4.75 kbit/s
pause = bytes([0x7C])
open('pause.amr', 'wb').write(b'#!AMR\n' + speech * 50 + pause * 200)
PYTHON
code=0
"$ffmpeg" -v quiet -i pause.amr -ar 8000 -f s16le -y out.raw || code=$?
seconds=$(python3 -c "import os; print(os.path.getsize('out.raw') / 16000)")
echo "5 s of AMR are decoded as $seconds s, exit code $code"
[ "$seconds $code" = '1.0 0' ]
