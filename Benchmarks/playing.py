"""Playing beside ffmpeg, ffplay, mpv and GStreamer: time to the first frame, and the cost of decoding a minute of 1080p.

The stream is the sample with five variants, from nginx on this machine, as it comes and with 20 ms before each response. "First
frame" is the wall time of a process that ends as soon as it has one. For decoding, all get the same variant and show nothing;
what counts is processor time and resident memory, as ratios to `ffmpeg -threads 1`.
"""

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from downloads import NGINX, PORT

BASE = f"http://127.0.0.1:{PORT}"


def run(command):
    """Wall seconds, processor seconds, MiB resident."""
    begun = time.monotonic()
    # One that hangs is ended, and then said to have failed.
    command = ["timeout", "120"] + command
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.monotonic() - begun
    if process.returncode != 0:
        raise SystemExit(f"{command[0]} failed with {process.returncode}: {' '.join(command)}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def first_frame(program, address):
    return {
        "millstream": [program, "play", address, "--headless", "--speed", "max", "--until", "0.03", "--muted", "--quiet"],
        # Flag 1 is the video alone: with sound it waits for the end of that too.
        "GStreamer": ["gst-launch-1.0", "-q", "playbin", f"uri={address}", "flags=1", "video-sink=fakesink num-buffers=1"],
        "ffmpeg": ["ffmpeg", "-nostdin", "-v", "error", "-i", address, "-map", "0:v:0", "-frames:v", "1", "-f", "null", "-"],
        "ffplay": ["env", "SDL_VIDEODRIVER=dummy", "ffplay", "-v", "error", "-an", "-autoexit", "-t", "0.04", address],
        "mpv": ["mpv", "--no-config", "--really-quiet", "--vo=null", "--ao=null", "--frames=1", "--no-audio", address],
    }


def decoding(program, address):
    return {
        "ffmpeg -threads 1": ["ffmpeg", "-nostdin", "-v", "error", "-threads", "1", "-t", "60", "-i", address, "-map",
                              "0:v:0", "-f", "null", "-"],
        "millstream": [program, "play", address, "--headless", "--speed", "max", "--until", "60", "--muted", "--quiet"],
        "GStreamer": ["gst-launch-1.0", "-q", "souphttpsrc", f"location={address}", "!", "hlsdemux", "!", "tsdemux", "!",
                      "h264parse", "!", "avdec_h264", "max-threads=1", "!", "fakesink"],
        "mpv": ["mpv", "--no-config", "--really-quiet", "--vo=null", "--untimed", "--no-audio", "--hwdec=no",
                "--length=60", address],
    }


def compare(title, commands, rounds, anchor):
    results = {name: [] for name in commands}
    for _ in range(rounds):
        # One after the other in each round: the machine's mood is the same for all.
        for name, command in commands.items():
            results[name].append(run(command))
    middle = {name: [statistics.median(values) for values in zip(*rows)] for name, rows in results.items()}
    print(f"\n{title}", flush=True)
    print(f"{'':20}{'wall s':>9}{'ratio':>8}{'CPU s':>9}{'ratio':>8}{'MiB':>8}")
    for name, (wall, cpu, memory) in middle.items():
        base = middle[anchor]
        print(f"{name:20}{wall:9.3f}{wall / base[0]:8.2f}{cpu:9.2f}{cpu / base[1]:8.2f}{memory:8.0f}")
    return middle


def main():
    program, samples, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with tempfile.TemporaryDirectory() as root:
        os.symlink(samples, f"{root}/www")
        os.chmod(root, 0o755)
        with open(f"{root}/nginx.conf", "w") as file:
            file.write("user root;\n" * (os.getuid() == 0) + NGINX.format(root=root, port=PORT))
        server = subprocess.Popen(["nginx", "-p", root, "-c", f"{root}/nginx.conf"], stderr=subprocess.DEVNULL)
        try:
            time.sleep(1)
            for title, path in [("First frame", "ts"), ("First frame, 20 ms before each response", "slow/ts")]:
                address = f"{BASE}/{path}/multivariant.m3u8"
                compare(title, first_frame(program, address), max(rounds, 5), "GStreamer")
            title = "60 s of 1080p30 decoded"
            address = f"{BASE}/ts/1080p/media.m3u8"
            compare(title, decoding(program, address), rounds, "ffmpeg -threads 1")
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait()


if __name__ == "__main__":
    main()
