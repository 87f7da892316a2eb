"""Measures edited playlists beside nginx, in one run on this machine: requests per second, CPU time of a request and latency.

nginx serves the source and forwards it (proxy_pass, one worker); millstream edits it. Each case is measured with a source that is
fresh (max-age) and with one that has to be validated for each request.

Usage: editing.py MILLSTREAM [SECONDS]
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

from serving import cpu_seconds, free_port, latency, request_count, start_nginx, stop

millstream = sys.argv[1]
seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 5


def multivariant(count):
    lines = ["#EXTM3U", "#EXT-X-VERSION:6", "#EXT-X-INDEPENDENT-SEGMENTS"]
    for number in range(count):
        height = 144 + 72 * (number % 14)
        lines.append(
            f'#EXT-X-STREAM-INF:BANDWIDTH={300000 + 400000 * (number % 12) + number},AVERAGE-BANDWIDTH={250000 + 100 * number},'
            f'CODECS="avc1.64001f,mp4a.40.2",RESOLUTION={height * 16 // 9}x{height},FRAME-RATE=30.000')
        lines.append(f"variant-{number}/media.m3u8")
    return "\n".join(lines) + "\n"


def media(count):
    lines = ["#EXTM3U", "#EXT-X-VERSION:3", "#EXT-X-TARGETDURATION:6", "#EXT-X-PLAYLIST-TYPE:VOD"]
    for number in range(count):
        lines += ["#EXTINF:6.000,", f"segment-{number}.ts"]
    return "\n".join(lines + ["#EXT-X-ENDLIST"]) + "\n"


cases = [
    ("multivariant, 12 variants to 8", "twelve.m3u8", multivariant(12), "bandwidth=...3000000"),
    ("multivariant, 200 variants", "many.m3u8", multivariant(200), "bandwidth=...3000000"),
    ("media, 1,800 segments to 10 min", "long.m3u8", media(1800), "duration=600"),
]


def wait_for(port):
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    sys.exit(f"nothing listens on port {port}")


def processes(parent):
    """A process and its children."""
    return [parent] + [int(pid) for pid in subprocess.run(
        ["pgrep", "-P", str(parent)], capture_output=True, text=True).stdout.split()]


def measure(url, process):
    """Requests per second, CPU microseconds of a request, and the 99th percentile of the latency in milliseconds."""
    body = urllib.request.urlopen(url).read()
    if not body.startswith(b"#EXTM3U"):
        sys.exit(f"{url} is not a playlist")
    subprocess.run(["wrk", "-t1", "-c32", "-d1s", url], capture_output=True, check=True)
    before = cpu_seconds(*processes(process))
    output = subprocess.run(
        ["wrk", "-t1", "-c32", f"-d{seconds}s", "--latency", url], capture_output=True, text=True, check=True).stdout
    used = cpu_seconds(*processes(process)) - before
    count = request_count(output)
    if "Non-2xx" in output:
        sys.exit(f"{url}: {output}")
    return count / seconds, used / count * 1e6, latency(output, 99)


folder = tempfile.mkdtemp(prefix="editing-")
origin, forwarding, server = free_port(), free_port(), free_port()
for name in ("fresh", "validated"):
    os.makedirs(f"{folder}/www/{name}")
    for _, file, text, _ in cases:
        with open(f"{folder}/www/{name}/{file}", "w") as output:
            output.write(text)
os.chmod(folder, 0o755)


def nginx_process(name, servers):
    own = f"{folder}/{name}"
    os.mkdir(own)
    return start_nginx(own, servers, options="keepalive_requests 1000000;")


source_nginx = nginx_process("origin", f"""
    server {{
        listen 127.0.0.1:{origin};
        root {folder}/www;
        location /fresh/ {{ add_header Cache-Control max-age=3600; }}
        location /validated/ {{ add_header Cache-Control no-cache; }}
    }}""")
nginx = nginx_process("forwarding", f"""
    upstream origin {{ server 127.0.0.1:{origin}; keepalive 64; keepalive_requests 1000000; }}
    server {{
        listen 127.0.0.1:{forwarding};
        location / {{ proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection ""; }}
    }}""")
edits = subprocess.Popen(
    [millstream, "serve", "--port", str(server), "--library", f"{folder}/library", "--allow-host", f"127.0.0.1:{origin}"],
    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
try:
    for port in (origin, forwarding, server):
        wait_for(port)
    print("| case | source | nginx req/s; CPU us; p99 ms | millstream req/s; CPU us; p99 ms | req/s as a part of nginx | CPU | p99 |")
    print("|---|---|---|---|---|---|---|")
    for title, file, _, edit in cases:
        for freshness in ("fresh", "validated"):
            source = f"http://127.0.0.1:{origin}/{freshness}/{file}"
            peer = measure(f"http://127.0.0.1:{forwarding}/{freshness}/{file}", nginx.pid)
            own = measure(
                f"http://127.0.0.1:{server}/play.m3u8?url={urllib.parse.quote(source, safe='')}&{edit}", edits.pid)
            figures = ["; ".join(f"{value:,.{digits}f}" for value, digits in zip(run, (0, 0, 1))) for run in (peer, own)]
            print(f"| {title} | {freshness} | {figures[0]} | {figures[1]} | {own[0] / peer[0]:.2f} "
                  f"| {own[1] / peer[1]:.1f} | {own[2] / peer[2]:.1f} |", flush=True)
finally:
    stop([edits, nginx, source_nginx])
    shutil.rmtree(folder, ignore_errors=True)
