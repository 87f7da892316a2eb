"""Measures a server with many players: 10,000 players of a live channel that reload its playlist, on one core, and the memory
after a million requests.

Each player has a connection and requests the playlist every 6 seconds, the target duration of the channel. The channel repeats
a presentation that nginx serves; its playlist changes with each segment.

Usage: players.py MILLSTREAM [SECONDS [PLAYERS [REQUESTS]]]
"""

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

from serving import cpu_seconds, free_port, latency, request_count, start_nginx, stop

millstream = sys.argv[1]
seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 60
players = int(sys.argv[3]) if len(sys.argv) > 3 else 10_000
requests = int(sys.argv[4]) if len(sys.argv) > 4 else 1_000_000
interval = 6

limit = players + 1_000
if resource.getrlimit(resource.RLIMIT_NOFILE)[0] < limit:
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, max(limit, resource.getrlimit(resource.RLIMIT_NOFILE)[1])))


def resident(pid):
    """The resident memory of a process in MiB."""
    return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{pid}/status").read()).group(1)) / 1024


def load(url, connections, duration, script=None, cores="0"):
    command = ["taskset", "-c", cores, "wrk", "-t1", f"-c{connections}", f"-d{duration}s", "--latency", "--timeout", "30s"]
    output = subprocess.run(
        command + (["-s", script] if script else []) + [url], capture_output=True, text=True, check=True).stdout
    failures = [line.strip() for line in output.splitlines() if "Non-2xx" in line or "Socket errors" in line]
    return request_count(output), [latency(output, 50), latency(output, 99)], failures


folder = tempfile.mkdtemp(prefix="players-")
origin, server = free_port(), free_port()
os.makedirs(f"{folder}/www")
os.chmod(folder, 0o755)
with open(f"{folder}/www/media.m3u8", "w") as output:
    lines = ["#EXTM3U", "#EXT-X-VERSION:3", "#EXT-X-TARGETDURATION:6", "#EXT-X-PLAYLIST-TYPE:VOD"]
    for number in range(100):
        lines += ["#EXTINF:6.000,", f"segment-{number}.ts"]
    output.write("\n".join(lines + ["#EXT-X-ENDLIST"]) + "\n")
with open(f"{folder}/players.lua", "w") as output:
    # The first request of each player is sent at a time of its own.
    output.write(f"""
local count = 0
function delay()
    count = count + 1
    if count <= {players} then return math.random(0, {interval * 1000}) end
    return {interval * 1000}
end
""")
nginx = start_nginx(folder, f"server {{ listen 127.0.0.1:{origin}; root {folder}/www; add_header Cache-Control max-age=60; }}")
edits = subprocess.Popen(
    ["taskset", "-c", "1", millstream, "serve", "--port", str(server), "--library", f"{folder}/library",
     "--allow-host", f"127.0.0.1:{origin}", "--max-connections", str(players + 100),
     "--max-connections-per-client", str(players + 100)],
    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
source = urllib.parse.quote(f"http://127.0.0.1:{origin}/media.m3u8", safe="")
channel = f"http://127.0.0.1:{server}/play.m3u8?url={source}&live=loop"
trimmed = f"http://127.0.0.1:{server}/play.m3u8?url={source}&duration=60"
try:
    for _ in range(200):
        try:
            body = urllib.request.urlopen(channel).read()
            break
        except OSError:
            time.sleep(0.05)
    else:
        sys.exit("the server does not respond")
    if b"#EXT-X-MEDIA-SEQUENCE" not in body or b"#EXT-X-ENDLIST" in body:
        sys.exit("the channel is not live")
    before, memory = cpu_seconds(edits.pid), resident(edits.pid)
    count, latencies, failures = load(channel, players, seconds, f"{folder}/players.lua")
    used = cpu_seconds(edits.pid) - before
    print(f"{players:,} players for {seconds} s: {count:,} playlists, {used / seconds * 100:.0f} % of one core, "
          f"latency {latencies[0]:.1f} ms (50 %), {latencies[1]:.1f} ms (99 %), resident {memory:.0f} to "
          f"{resident(edits.pid):.0f} MiB{', ' + '; '.join(failures) if failures else ''}", flush=True)
    total = 0
    for part in (0.1, 0.5, 1):
        while total < requests * part:
            total += load(trimmed, 32, 5)[0]
        print(f"after {total:,} requests: resident {resident(edits.pid):.0f} MiB", flush=True)
finally:
    stop([edits, nginx])
    shutil.rmtree(folder, ignore_errors=True)
